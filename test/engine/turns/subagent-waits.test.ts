// Waits for subagents: what they return and when they end, and that they continue when replicas come and go.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import { builtInTools } from "../../../src/engine/tools/registry.js";
import { calls, say } from "../../support/workspaces/agent-script.js";
import { ASK_ONE, familiesIn, SLOW } from "./families.js";
import { publishOnlyBus, World } from "../world.js";

let world: World;
let families: ReturnType<typeof familiesIn>;
beforeAll(async () => {
  world = await World.open();
  families = familiesIn(world);
  // The request for it has a timeout of its own, as long as the poll interval of a wait.
  await world.run("UPDATE model_configs SET context_limit = 200000");
});
afterAll(() => world.close());
afterEach(async () => {
  await world.closeReplicas();
  await world.run("DELETE FROM chats");
});

test("a wait returns the answer to the last message, even to one sent in the same step", async () => {
  families.play({
    Do: [
      () => calls(["spawn_agent", { prompt: "Part one" }]),
      ({ agents: [id = ""] }) => calls(["wait_agent", { chat_id: id }]),
      ({ agents: [id = ""] }) =>
        calls(["message_agent", { chat_id: id, message: "Part two" }], ["wait_agent", { chat_id: id }]),
      ({ results }) => ({ text: results.map((it) => it["report"] ?? it["status"]).join(", ") }),
    ],
    "Part one": [say("One.")],
    "Part two": [say("Two.")],
  });
  const chatId = await world.createChat(await families.start(), "Do it");
  await world.untilStatus(chatId, "waiting");
  expect(await families.lastWords(chatId)).toBe("assistant: working, One., working, Two.");
});

test("a wait ends after its timeout, and a message to a busy subagent is queued or interrupts it", async () => {
  families.play({
    Do: [
      () => calls(["spawn_agent", { prompt: "Part one" }]),
      ({ agents: [id = ""] }) => calls(["wait_agent", { chat_id: id, timeout_seconds: 7 }]),
      ({ agents: [id = ""] }) =>
        calls(["message_agent", { chat_id: id, message: "Part two", interrupt: true }]),
      ({ agents: [id = ""] }) => calls(["wait_agent", { chat_id: id }]),
      ({ results }) => ({ text: JSON.stringify(results.map(({ status, report }) => report ?? status)) }),
    ],
    "Part one": [SLOW],
    "Part two": [say("Two.")],
  });
  const replica = await families.start();
  const speaks = world.modelClock.nextTimer(1_000);
  const polls = replica.clock.nextTimer(5_000);
  const chatId = await world.createChat(replica, "Do it");
  await Promise.all([speaks, polls]);
  const last = replica.clock.nextTimer(2_000);
  replica.clock.advance(5_000);
  await last;
  replica.clock.advance(2_000);
  await world.untilStatus(chatId, "waiting");
  expect(await families.lastWords(chatId)).toBe('assistant: ["working","working","working","Two."]');
});

test("a wait notices a missed event by polling", async () => {
  families.play({ Do: ASK_ONE, "Part one": [SLOW] });
  const isolated = world.replica({
    tools: builtInTools,
    bus: publishOnlyBus(world.bus),
    settings: { batchSize: () => Promise.resolve(1) },
  });
  const polls = isolated.clock.nextTimer(5_000);
  const speaks = world.modelClock.nextTimer(1_000);
  const chatId = await world.createChat(isolated, "Do it");
  await isolated.worker.start();
  const child = await families.onlyChild(isolated, chatId);
  await Promise.all([polls, speaks]);
  world.modelClock.advance(1_000);
  await world.untilStatus(child, "waiting");
  expect((await world.state(chatId)).status).toBe("running");
  isolated.clock.advance(5_000);
  await world.untilStatus(chatId, "waiting");
  expect(await families.lastWords(chatId)).toBe("assistant: It said: waiting");
});

test("a wait reports why a subagent failed, and that one was stopped", async () => {
  families.play({
    Do: [
      () => calls(["spawn_agent", { prompt: "Part one" }]),
      ({ agents: [id = ""] }) => calls(["wait_agent", { chat_id: id }]),
      ({ agents: [id = ""] }) => calls(["message_agent", { chat_id: id, message: "Part two" }]),
      ({ agents: [id = ""] }) => calls(["interrupt_agent", { chat_id: id }], ["wait_agent", { chat_id: id }]),
      () => calls(["list_agents", {}]),
      say("So it is."),
    ],
    "Part one": [() => ({ error: { status: 400, message: "No." } })],
    "Part two": [() => ({ hang: "before-events" })],
  });
  const chatId = await world.createChat(await families.start(), "Do it");
  await world.untilStatus(chatId, "waiting");
  const [child] = await families.childrenOf(chatId);
  const agent = { chat_id: encodeId("chat", child?.id ?? ""), title: "Part one" };
  expect(await families.resultsOf(chatId)).toEqual([
    { ...agent, type: "general", status: "working" },
    { error: expect.stringContaining('The subagent "Part one" failed:') as string },
    { ...agent, status: "working" },
    { ...agent, interrupted: true },
    { ...agent, status: "interrupted", note: expect.any(String) as string },
    { agents: [{ ...agent, type: "general", status: "at_rest" }] },
  ]);
});

test("a wait continues at another replica when its own shuts down or is lost, and nothing is done twice", async () => {
  families.play({ Do: ASK_ONE, "Part one": [SLOW] });
  const first = await families.start();
  let speaks = world.modelClock.nextTimer(1_000);
  let waits = first.clock.nextTimer(5_000);
  const chatId = await world.createChat(first, "Do it");
  await Promise.all([speaks, waits]);

  const second = world.replica({ tools: builtInTools });
  [speaks, waits] = [world.modelClock.nextTimer(1_000), second.clock.nextTimer(5_000)];
  await second.worker.start();
  await first.worker.close();
  await Promise.all([speaks, waits]);

  const third = world.replica({ tools: builtInTools });
  [speaks, waits] = [world.modelClock.nextTimer(1_000), third.clock.nextTimer(5_000)];
  await world.killLease(second);
  await third.worker.start();
  await Promise.all([speaks, waits]);
  world.modelClock.advance(1_000);
  await world.untilStatus(chatId, "waiting");
  expect(await families.lastWords(chatId)).toBe("assistant: It said: waiting");
  const children = await families.childrenOf(chatId);
  expect(children.map(({ state }) => state.status)).toEqual(["waiting"]);
});

test("a waiting chat leaves its slot at the worker to its subagents", async () => {
  families.play({ Do: ASK_ONE, "Part one": [say("One.")] });
  const replica = await families.start({ settings: { maxRunningChats: 1 } });
  const waits = replica.clock.nextTimer(5_000);
  const chatId = await world.createChat(replica, "Do it");
  await waits;
  const child = await families.onlyChild(replica, chatId);
  await world.untilStatus(child, "waiting");
  await world.untilStatus(chatId, "waiting");
  expect(await families.lastWords(chatId)).toBe("assistant: It said: One.");
});

test("a waiting chat does not keep its subagents from running, whatever the limits of running chats", async () => {
  families.play({ Do: ASK_ONE, "Part one": [say("One.")], Alone: [say("Alone.")] });
  const replica = await families.start({ settings: { limits: { chats: 1, chatsPerUser: 1 } } });
  const chatId = await world.createChat(replica, "Do it");
  const other = await world.createChat(replica, "Alone");
  await world.untilStatus(chatId, "waiting");
  await world.untilStatus(other, "waiting");
  expect([await families.lastWords(chatId), await families.lastWords(other)]).toEqual([
    "assistant: It said: One.",
    "assistant: Alone.",
  ]);
});
