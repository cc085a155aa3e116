// Workers that shut down, die or lose contact: their chats continue elsewhere, without duplicates or losses.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import type { LiveBatch } from "../../../src/domain/chats/chat-events.js";
import { ChatRun } from "../../../src/engine/worker/chat-run.js";
import { acquirePending, renewLease } from "../../../src/store/chats/leases.js";
import type { Tool } from "../../../src/engine/tools/tool.js";
import { connectedTo, publishOnlyBus, HEARTBEAT_MS, isAtRest, World, type Replica } from "../world.js";
import { eventually } from "../../support/eventually.js";

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
beforeEach(() => {
  world.answer = () => undefined;
});
afterEach(() => world.closeReplicas());

async function start(tools: readonly Tool[] = [], bus = world.bus as Replica["bus"]): Promise<Replica> {
  const replica = world.replica({ tools, bus });
  await replica.worker.start();
  return replica;
}

/** A replica that receives no events, like a hung process; it had claimed the chat before. */
async function startWithoutEvents(tools: readonly Tool[] = []): Promise<Replica> {
  return start(tools, publishOnlyBus(world.bus));
}

const REST = {
  status: "waiting",
  workerId: null,
  runnerId: null,
  retry: null,
  lastError: null,
  openCalls: [],
};
const ONCE: ScriptStep = { text: ["Once ", "upon a time"], hang: 1 };

describe("a worker that shuts down", () => {
  test("in mid-sentence releases the chat to another worker at once, which streams the step from its beginning", async () => {
    const leaving = await start();
    world.answers(ONCE, { text: "A whole story." });
    const chatId = await world.createChat(leaving, "A story");
    await world.untilStreamed(chatId, "Once ");
    const statuses: string[] = [];
    const saved = ({ state }: { state: { status: string } }) => void statuses.push(state.status);
    const detach = await world.bus.subscribeChat(chatId, { saved, live: () => undefined });
    const staying = await start();
    await leaving.worker.close();
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    detach();
    expect(statuses).toEqual(["pending", "running", "waiting"]);
    expect(await world.historyLines(chatId)).toEqual(["user: A story", "assistant: A whole story."]);
    expect([leaving.worker.runningChats, staying.worker.runningChats]).toEqual([0, 0]);
    const leases = await world.run("SELECT 1 FROM worker_leases WHERE worker_id = $1", [leaving.worker.id]);
    expect(leases).toEqual([]);
  });

  test("while a tool runs lets the next worker run it under the same idempotency key", async () => {
    const keys: string[] = [];
    let run: Tool["run"] = () => new Promise(() => undefined);
    const tool: Tool = {
      name: "work",
      description: "Works.",
      inputSchema: { type: "object" },
      run(args, context) {
        keys.push(context.idempotencyKey);
        return run(args, context);
      },
    };
    let begun: (() => void) | undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    run = (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
        begun?.();
      });
    const leaving = await start([tool]);
    world.answers({ toolCalls: [{ id: "a", name: "work", arguments: {} }] }, { text: "Done." });
    const chatId = await world.createChat(leaving, "Work", { workspaceId: world.workspaceId });
    await hasBegun;
    run = () => Promise.resolve({ result: "worked", isError: false });
    await start([tool]);
    await leaving.worker.close();
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual([
      "user: Work",
      "assistant: a=work({})",
      'tool: a="worked"',
      "assistant: Done.",
    ]);
    const [, asking] = await world.history(chatId);
    expect(keys).toEqual([`${chatId}:${asking?.id}:a`, `${chatId}:${asking?.id}:a`]);
  });

  test("while a retry is delayed leaves a pending chat without a notice", async () => {
    const leaving = await start();
    world.answers({ error: { status: 529 } }, { text: "Rested." });
    const chatId = await world.createChat(leaving, "Hello");
    await world.until(chatId, (state) => state.retry !== null);
    await leaving.worker.close();
    expect(await world.state(chatId)).toMatchObject({ ...REST, status: "pending" });
    await start();
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: Hello", "assistant: Rested."]);
  });

  test("finishes an interrupt that came first", async () => {
    const leaving = await start();
    world.answers(ONCE);
    const chatId = await world.createChat(leaving, "A story");
    await world.untilStreamed(chatId, "Once ");
    await Promise.all([leaving.commands.interruptChat(world.viewer, chatId), leaving.worker.close()]);
    await start();
    expect(await world.until(chatId, isAtRest)).toMatchObject(REST);
    expect((await world.historyLines(chatId))[0]).toBe("user: A story");
  });

  test("in the middle of an interrupt does not start the queued message, but releases the chat", async () => {
    const leaving = await start();
    world.answers(ONCE, { hang: "before-headers" });
    const chatId = await world.createChat(leaving, "A story");
    await world.untilStreamed(chatId, "Once ");
    const saved = ({ state }: { state: { status: string } }) => {
      if (state.status === "interrupting") closing ??= leaving.worker.close();
    };
    let closing: Promise<void> | undefined;
    const detach = await world.bus.subscribeChat(chatId, { saved, live: () => undefined });
    await world.send(leaving, chatId, "Something else", "interrupt");
    await closing;
    detach();
    expect(await world.state(chatId)).toMatchObject({ status: "pending", runnerId: null });
    expect(await world.historyLines(chatId)).toEqual([
      "user: A story",
      "assistant: Once ",
      "user: Something else",
    ]);
    await world.run("DELETE FROM chats WHERE id = $1", [chatId]);
  });

  test("claims no more chats", async () => {
    const leaving = await start();
    await leaving.worker.close();
    const chatId = await world.createChat(leaving, "Anybody?");
    leaving.worker.wake();
    expect(await world.state(chatId)).toMatchObject({ status: "pending", snapshotVersion: 1 });
    await world.run("DELETE FROM chats WHERE id = $1", [chatId]);
  });
});

describe("a worker that dies", () => {
  test("loses its chat to another worker at that one's next heartbeat, and its own late commit is refused", async () => {
    const dead = await startWithoutEvents();
    world.answers({ text: ["Once ", "upon a time"], delayMs: 1_000 }, { text: "A whole story." });
    const chatId = await world.createChat(dead, "A story");
    dead.worker.wake();
    await world.untilStreamed(chatId, "Once ");
    const successor = await start();
    successor.clock.advance(HEARTBEAT_MS);
    expect((await world.state(chatId)).workerId).toBe(dead.worker.id);
    await world.killLease(dead);
    successor.clock.advance(HEARTBEAT_MS);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    world.modelClock.advance(1_000);
    await eventually(() => expect(dead.worker.runningChats).toBe(0));
    expect(await world.state(chatId)).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: A story", "assistant: A whole story."]);
  });

  test("loses its chats to a starting worker too, without waiting for a heartbeat", async () => {
    const dead = await startWithoutEvents();
    world.answers(ONCE, { text: "A whole story." });
    const chatId = await world.createChat(dead, "A story");
    dead.worker.wake();
    await world.untilStreamed(chatId, "Once ");
    await world.run(
      "UPDATE worker_leases SET expires_at = now() - interval '1 second' WHERE worker_id = $1",
      [dead.worker.id],
    );
    await start();
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: A story", "assistant: A whole story."]);
  });

  test("while it was interrupted leaves its partial answer to the worker that finishes the interrupt", async () => {
    const dead = await startWithoutEvents();
    world.answers(ONCE, { text: "Sure." });
    const chatId = await world.createChat(dead, "A story");
    dead.worker.wake();
    await world.untilStreamed(chatId, "Once ");
    const successor = await start();
    await world.send(successor, chatId, "Something else", "interrupt");
    expect(await world.state(chatId)).toMatchObject({ status: "interrupting", workerId: dead.worker.id });
    await world.killLease(dead);
    successor.clock.advance(HEARTBEAT_MS);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual([
      "user: A story",
      "assistant: Once ",
      "user: Something else",
      "assistant: Sure.",
    ]);
  });

  test("does not block its chat: when the next worker cannot read the partial answer, the queued turn fails visibly", async () => {
    const dead = await startWithoutEvents();
    world.answers(ONCE);
    const chatId = await world.createChat(dead, "A story");
    dead.worker.wake();
    await world.untilStreamed(chatId, "Once ");
    await world.send(dead, chatId, "Something else", "interrupt");
    await world.killLease(dead);
    const readDeltas = () => Promise.reject(new Error("the log is away"));
    await start([], { ...connectedTo(world.bus), readDeltas });
    expect(await world.untilStatus(chatId, "error")).toMatchObject({
      runnerId: null,
      queuedIds: [],
      lastError: { kind: "internal" },
    });
    expect(await world.historyLines(chatId)).toEqual(["user: A story", "user: Something else"]);
  });

  test("while its tools ran has them run again", async () => {
    let runs = 0;
    const tool: Tool = {
      name: "work",
      description: "Works.",
      inputSchema: { type: "object" },
      run: () =>
        (runs += 1) === 1 ? new Promise(() => undefined) : Promise.resolve({ result: runs, isError: false }),
    };
    const dead = await startWithoutEvents([tool]);
    world.answers({ toolCalls: [{ id: "a", name: "work", arguments: {} }] }, { text: "Done." });
    const chatId = await world.createChat(dead, "Work", { workspaceId: world.workspaceId });
    dead.worker.wake();
    await eventually(() => expect(runs).toBe(1));
    await world.killLease(dead);
    await start([tool]);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual([
      "user: Work",
      "assistant: a=work({})",
      "tool: a=2",
      "assistant: Done.",
    ]);
    // The dead replica's tool never ends by itself; its worker stops waiting two seconds after it is stopped.
    const grace = dead.clock.nextTimer(2_000);
    const closing = dead.worker.close();
    await grace;
    dead.clock.advance(2_000);
    await closing;
    expect(await world.state(chatId)).toMatchObject(REST);
  });
});

test("a worker that had lost contact learns within two heartbeats that its chat has another runner", async () => {
  const silent = await startWithoutEvents();
  world.answers(ONCE, { text: "A whole story." });
  const chatId = await world.createChat(silent, "A story");
  silent.worker.wake();
  await world.untilStreamed(chatId, "Once ");
  await world.killLease(silent);
  await start();
  await world.untilStatus(chatId, "waiting");
  expect(silent.worker.runningChats).toBe(1);
  await eventually(() => {
    silent.clock.advance(HEARTBEAT_MS);
    expect(silent.worker.runningChats).toBe(0);
  });
  expect(await world.historyLines(chatId)).toEqual(["user: A story", "assistant: A whole story."]);
});

test("a runner that has lost its lease publishes nothing any more, least of all in the generation of the next runner", async () => {
  const { dependencies } = world.replica();
  const chatId = await world.createChat(world.replica(), "Hello");
  const workerId = randomUUID();
  await renewLease(world.database, workerId, 60_000);
  const [claimed] = await acquirePending(world.database, workerId, 1);
  if (claimed?.chatId !== chatId) throw new Error("The chat was not acquired.");
  const published: unknown[] = [];
  const bus = {
    ...connectedTo(world.bus),
    publishLive: ({ generation }: LiveBatch) => published.push(generation),
  };
  const run = new ChatRun({ ...dependencies, bus }, claimed);
  run.ports().publish([]);
  const { snapshotVersion, historyVersion, attempt } = claimed.state;
  const taken = { snapshotVersion: snapshotVersion + 1, runnerId: randomUUID(), attempt: attempt + 1 };
  run.observe({ ...claimed.state, ...taken });
  run.ports().publish([]);
  expect(published).toEqual([{ historyVersion, attempt }]);
  await world.run("DELETE FROM chats WHERE id = $1", [chatId]);
});

test("a chat that a worker has claimed without running it is claimed again", async () => {
  const replica = world.replica();
  const chatId = await world.createChat(replica, "Hello");
  world.answers({ text: "Here." });
  await world.run(
    `UPDATE chats SET status = 'running', worker_id = $2, runner_id = $3, snapshot_version = 2, status_version = 2
      WHERE id = $1`,
    [chatId, replica.worker.id, randomUUID()],
  );
  await replica.worker.start();
  expect(await world.state(chatId)).toMatchObject({ status: "running" });
  const rested = world.untilStatus(chatId, "waiting");
  await eventually(async () => {
    replica.clock.advance(HEARTBEAT_MS);
    expect((await world.state(chatId)).status).toBe("waiting");
  });
  expect(await rested).toMatchObject(REST);
  expect(await world.historyLines(chatId)).toEqual(["user: Hello", "assistant: Here."]);
});

test("two workers share forty chats, and each chat is answered once", async () => {
  world.answer = () => ({ text: "Yes." });
  const [one, two] = [world.replica(), world.replica({ settings: { batchSize: () => Promise.resolve(3) } })];
  const chats = await Promise.all(
    Array.from({ length: 40 }, (_, index) => world.createChat(one, `Chat ${index}`)),
  );
  await Promise.all([one.worker.start(), two.worker.start()]);
  for (const chatId of chats) await world.until(chatId, isAtRest);
  const histories = await Promise.all(chats.map((chatId) => world.historyLines(chatId)));
  expect(histories).toEqual(chats.map((_, index) => [`user: Chat ${index}`, "assistant: Yes."]));
});

test("a worker claims as many chats at once as the current setting allows", async () => {
  world.answer = () => ({ text: "Yes." });
  const asked: number[] = [];
  // Three are claimed one by one; then the limit is raised, and the rest is claimed at once.
  const batchSize = async () => {
    asked.push(asked.length < 3 ? 1 : 10);
    return asked.at(-1) ?? 1;
  };
  const replica = world.replica({ settings: { batchSize } });
  const chats = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => world.createChat(replica, `Chat ${n}`)));
  await replica.worker.start();
  for (const chatId of chats) await world.until(chatId, isAtRest);
  expect(asked.slice(0, 4)).toEqual([1, 1, 1, 10]);
});
