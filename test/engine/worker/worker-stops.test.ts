// Interrupts, edits and archiving of a running chat: what is persisted, and what never appears.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import { type DemoRequest, lastUserText } from "../../../src/demo-model/request.js";
import type { Tool } from "../../../src/engine/tools/tool.js";
import { publishOnlyBus, isAtRest, World, type Replica } from "../world.js";
import { eventually } from "../../support/eventually.js";

let world: World;
let replica: Replica;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
beforeEach(() => {
  world.answer = () => undefined;
});
afterEach(() => world.closeReplicas());

async function start(tools: readonly Tool[] = []): Promise<void> {
  replica = world.replica({ tools });
  await replica.worker.start();
}

const REST = {
  status: "waiting",
  runnerId: null,
  retry: null,
  lastError: null,
  openCalls: [],
  queuedIds: [],
};
const interrupt = (chatId: string) => replica.commands.interruptChat(world.viewer, chatId);

function tool(name: string, run: Tool["run"]): Tool {
  return { name, description: name, inputSchema: { type: "object", properties: {} }, run };
}

const quick = tool("quick", () => Promise.resolve({ result: "done", isError: false }));
/** Runs until it is stopped. */
const slow = tool(
  "slow",
  (_args, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
);

const twoCalls: ScriptStep = {
  text: "Both.",
  toolCalls: [
    { id: "a", name: "slow", arguments: {} },
    { id: "b", name: "quick", arguments: {} },
  ],
};
const INTERRUPTED = '{"error":"The call was interrupted before it had a result."}';

describe("an interrupt", () => {
  test("before the first delta leaves no message", async () => {
    await start();
    // The interrupt may come before the request is sent, so the answer depends on the request, not on the count.
    world.answer = (request) =>
      lastUserText(request) === "Hello" ? { hang: "before-events" } : { text: "Back." };
    const chatId = await world.createChat(replica, "Hello");
    await world.until(chatId, (state) => state.attempt === 1);
    await interrupt(chatId);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: Hello"]);
    await world.send(replica, chatId, "Still there?");
    await world.until(chatId, (state) => isAtRest(state) && state.attempt === 0);
    expect(await world.historyLines(chatId)).toEqual([
      "user: Hello",
      "user: Still there?",
      "assistant: Back.",
    ]);
  });

  test("in mid-sentence keeps the text so far", async () => {
    await start();
    world.answers({ reasoning: "Hm.", text: ["Once ", "upon a time"], hang: 1 });
    const chatId = await world.createChat(replica, "A story");
    await world.untilStreamed(chatId, "Hm.");
    await eventually(async () => {
      replica.clock.advance(15);
      const logged = await replica.bus.readDeltas(chatId, await world.state(chatId));
      expect(JSON.stringify(logged)).toContain("Once");
    });
    await interrupt(chatId);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: A story", "assistant: (Hm.) Once "]);
  });

  test("while tools run keeps what has finished and answers the rest", async () => {
    await start([quick, slow]);
    world.answers(twoCalls, { text: "Go on." });
    const chatId = await world.createChat(replica, "Work", { workspaceId: world.workspaceId });
    await world.untilStreamed(chatId, '"result":"done"');
    await interrupt(chatId);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual([
      "user: Work",
      "assistant: Both. a=slow({}) b=quick({})",
      'tool: b="done"',
      `tool: a!=${INTERRUPTED}`,
    ]);
    await world.send(replica, chatId, "More");
    await world.until(chatId, (state) => isAtRest(state) && state.attempt === 0);
    expect((await world.historyLines(chatId)).slice(4)).toEqual(["user: More", "assistant: Go on."]);
  });

  test("is not delayed for longer than two seconds by a tool that ignores its signal", async () => {
    let begun: (() => void) | undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const deaf = tool("slow", () => {
      begun?.();
      return new Promise(() => undefined);
    });
    await start([quick, deaf]);
    world.answers(twoCalls);
    const chatId = await world.createChat(replica, "Work", { workspaceId: world.workspaceId });
    await hasBegun;
    const grace = replica.clock.nextTimer(2_000);
    await interrupt(chatId);
    await grace;
    expect((await world.state(chatId)).status).toBe("interrupting");
    replica.clock.advance(2_000);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect((await world.historyLines(chatId)).slice(2)).toEqual([
      'tool: b="done"',
      `tool: a!=${INTERRUPTED}`,
    ]);
  });

  test("during the delay of a retry ends the delay", async () => {
    await start();
    world.answers({ error: { status: 529 } });
    const chatId = await world.createChat(replica, "Hello");
    expect(await world.until(chatId, (state) => state.retry !== null)).toMatchObject({
      status: "running",
      retry: { attempt: 1, delayMs: 500 },
    });
    await interrupt(chatId);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: Hello"]);
  });

  test("of a pending chat makes it idle", async () => {
    replica = world.replica();
    const chatId = await world.createChat(replica, "Hello");
    await interrupt(chatId);
    expect(await world.state(chatId)).toMatchObject(REST);
    expect(await interrupt(chatId)).toEqual({ ok: true, chatId, version: 2 });
  });

  test("is idempotent", async () => {
    await start();
    world.answers({ text: ["Once ", "upon"], hang: 1 });
    const chatId = await world.createChat(replica, "A story");
    await world.untilStreamed(chatId, "Once ");
    await Promise.all([interrupt(chatId), interrupt(chatId), interrupt(chatId)]);
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: A story", "assistant: Once "]);
  });
});

test("a message that interrupts follows directly after the partial answer", async () => {
  await start();
  world.answers({ text: ["Once ", "upon a time"], hang: 1 }, { text: "Sure." });
  const chatId = await world.createChat(replica, "A story");
  await world.untilStreamed(chatId, "Once ");
  await world.send(replica, chatId, "Something else", "interrupt");
  expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
  expect(await world.historyLines(chatId)).toEqual([
    "user: A story",
    "assistant: Once ",
    "user: Something else",
    "assistant: Sure.",
  ]);
});

describe("an edit", () => {
  async function editFirst(by: Replica, chatId: string, text: string): Promise<void> {
    const [first] = await world.history(chatId);
    const parts = [{ type: "text" as const, text }];
    const edited = await by.commands.editMessage(world.viewer, { messageId: first?.id ?? "", parts });
    expect(edited.ok).toBe(true);
  }

  // By the request, not by count: a request cancelled at the end of the previous test may still arrive.
  const answerStoryWith = (request: DemoRequest, answer: ScriptStep): ScriptStep =>
    lastUserText(request) === "A story" ? answer : { text: "A poem." };

  test("during a run stops it, clears the queue and starts again", async () => {
    await start();
    world.answer = (request) => answerStoryWith(request, { text: ["Once ", "upon a time"], hang: 1 });
    const chatId = await world.createChat(replica, "A story");
    await world.untilStreamed(chatId, "Once ");
    await world.send(replica, chatId, "longer");
    await editFirst(replica, chatId, "A poem");
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: A poem", "assistant: A poem."]);
  });

  test("refuses the late answer of a run that missed it", async () => {
    const late = world.replica({ bus: publishOnlyBus(world.bus) });
    await late.worker.start();
    world.answer = (request) => answerStoryWith(request, { text: ["Once ", "upon a time"], delayMs: 1_000 });
    const chatId = await world.createChat(late, "A story");
    late.worker.wake();
    await world.untilStreamed(chatId, "Once ");
    await start();
    await editFirst(replica, chatId, "A poem");
    expect(await world.untilStatus(chatId, "waiting")).toMatchObject(REST);
    world.modelClock.advance(1_000);
    await eventually(() => expect(late.worker.runningChats).toBe(0));
    expect(await world.state(chatId)).toMatchObject(REST);
    expect(await world.historyLines(chatId)).toEqual(["user: A poem", "assistant: A poem."]);
  });

  test("of an edited message is not found", async () => {
    await start();
    world.answers({ text: "One." });
    const chatId = await world.createChat(replica, "Hello");
    await world.until(chatId, isAtRest);
    const [first] = await world.history(chatId);
    await editFirst(replica, chatId, "Hallo");
    await world.until(chatId, (state) => isAtRest(state) && state.resetVersion > 0);
    const parts = [{ type: "text" as const, text: "Ciao" }];
    expect(
      await replica.commands.editMessage(world.viewer, { messageId: first?.id ?? "", parts }),
    ).toMatchObject({
      ok: false,
      refusal: { code: "NOT_FOUND" },
    });
  });
});

test("an archived chat stops, keeps its partial answer and its queue, and continues with the next message", async () => {
  await start();
  world.answers(
    { text: ["Once ", "upon a time"], hang: 1 },
    { text: "First the old." },
    { text: "Then the new." },
  );
  const chatId = await world.createChat(replica, "A story");
  await world.untilStreamed(chatId, "Once ");
  await world.send(replica, chatId, "waiting");
  await replica.commands.archiveChat(world.viewer, chatId);
  const archived = await world.untilStatus(chatId, "waiting");
  expect(archived).toMatchObject({ ...REST, isArchived: true, queuedIds: [expect.any(String)] });
  expect(await world.historyLines(chatId)).toEqual(["user: A story", "assistant: Once "]);
  await replica.commands.unarchiveChat(world.viewer, chatId);
  expect(await world.state(chatId)).toMatchObject({ status: "waiting", isArchived: false });
  await world.send(replica, chatId, "new");
  expect(await world.until(chatId, (state) => isAtRest(state) && state.queuedIds.length === 0)).toMatchObject(
    REST,
  );
  expect((await world.historyLines(chatId)).slice(2)).toEqual([
    "user: waiting",
    "assistant: First the old.",
    "user: new",
    "assistant: Then the new.",
  ]);
});
