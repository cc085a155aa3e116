// The worker's usual cases: turns of text and tools, and the queue.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { SavedChange } from "../../../src/domain/chats/chat-events.js";
import { defineTool, type Tool } from "../../../src/engine/tools/tool.js";
import { isAtRest, World, type Replica } from "../world.js";

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

const IDLE = {
  status: "waiting",
  workerId: null,
  runnerId: null,
  retry: null,
  lastError: null,
  actionDeadlineAt: null,
  openCalls: [],
  queuedIds: [],
};

test("a message is answered, and the chat becomes idle", async () => {
  await start();
  world.answers({ text: "Hello to you.", usage: { inputTokens: 7, outputTokens: 3 } });
  const chatId = await world.createChat(replica, "Hello");
  expect(await world.until(chatId, isAtRest)).toMatchObject(IDLE);
  expect(await world.history(chatId)).toEqual([
    {
      id: expect.any(String),
      chatId,
      role: "user",
      visibility: "both",
      parts: [{ type: "text", text: "Hello" }],
      authorId: world.viewer.userId,
      modelConfigId: world.modelConfigId,
      reasoningEffort: null,
      usage: null,
      costMicros: null,
      runtimeMs: null,
      generation: null,
      finishReason: null,
      responseId: null,
      isSummary: false,
      mcpServerIds: [],
      revision: 1,
      createdAt: replica.clock.now(),
    },
    {
      id: expect.any(String),
      chatId,
      role: "assistant",
      visibility: "both",
      parts: [{ type: "text", text: "Hello to you." }],
      authorId: null,
      modelConfigId: world.modelConfigId,
      reasoningEffort: null,
      usage: {
        inputTokens: 7,
        outputTokens: 3,
        reasoningTokens: 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      },
      costMicros: "0",
      runtimeMs: 0,
      generation: "gen_1_1",
      finishReason: "stop",
      responseId: null,
      isSummary: false,
      mcpServerIds: null,
      revision: 3,
      createdAt: replica.clock.now(),
    },
  ]);
});

test("a turn of text costs 3 statements and 3 transactions once the replica knows the chat", async () => {
  await start();
  const chatId = await world.createChat(replica, "Warm up [[demo: deltas=200]]");
  await world.until(chatId, isAtRest);
  const settled = new Promise<void>((resolve, reject) => {
    const saved = ({ state }: SavedChange) => state.status === "waiting" && resolve();
    world.bus.subscribeChat(chatId, { saved, live: () => undefined }).catch(reject);
  });
  const before = { ...world.database.counters };
  await world.send(replica, chatId, "Again [[demo: deltas=200]]");
  await settled;
  const { statements, transactions } = world.database.counters;
  expect({
    statements: statements - before.statements,
    transactions: transactions - before.transactions,
  }).toEqual({ statements: 3, transactions: 3 });
});

describe("tools", () => {
  const add = defineTool({
    name: "add",
    description: "Adds.",
    parameters: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => Promise.resolve({ sum: a + b }),
  });
  /** For tools that are called without arguments. */
  const bare = { ...add, inputSchema: { type: "object" } };
  const broken: Tool = { ...bare, name: "broken", run: () => Promise.reject(new Error("the sky fell")) };

  function withTools(text: string): Promise<string> {
    return world.createChat(replica, text, { workspaceId: world.workspaceId });
  }

  test("a call is run, and its result answered", async () => {
    await start([add]);
    world.answers(
      { text: "I add.", toolCalls: [{ id: "c1", name: "add", arguments: { a: 1, b: 2 } }] },
      { text: "Three." },
    );
    const chatId = await withTools("1 + 2?");
    expect(await world.until(chatId, isAtRest)).toMatchObject(IDLE);
    expect(await world.historyLines(chatId)).toEqual([
      "user: 1 + 2?",
      'assistant: I add. c1=add({"a":1,"b":2})',
      'tool: c1={"sum":3}',
      "assistant: Three.",
    ]);
    expect((await world.history(chatId)).map(({ generation }) => generation)).toEqual([
      null,
      "gen_1_1",
      "gen_3_0",
      "gen_4_1",
    ]);
  });

  test("calls of one answer run concurrently, and their results keep the order of the calls", async () => {
    const order: string[] = [];
    let meet: (() => void) | undefined;
    const met = new Promise<void>((resolve) => (meet = resolve));
    const first: Tool = {
      ...bare,
      name: "first",
      async run() {
        order.push("first begins");
        await met;
        order.push("first ends");
        return { result: 1, isError: false };
      },
    };
    const second: Tool = {
      ...bare,
      name: "second",
      run() {
        order.push("second");
        meet?.();
        return Promise.resolve({ result: 2, isError: false });
      },
    };
    await start([first, second]);
    world.answers(
      {
        toolCalls: [
          { id: "a", name: "first", arguments: {} },
          { id: "b", name: "second", arguments: {} },
        ],
      },
      { text: "Both." },
    );
    const chatId = await withTools("go");
    await world.until(chatId, isAtRest);
    expect(order).toEqual(["first begins", "second", "first ends"]);
    expect(await world.historyLines(chatId)).toEqual([
      "user: go",
      "assistant: a=first({}) b=second({})",
      "tool: a=1 b=2",
      "assistant: Both.",
    ]);
  });

  test("a tool's exception, an invalid argument and an unknown name are reported to the model, and the turn continues", async () => {
    await start([add, broken]);
    world.answers(
      {
        toolCalls: [
          { id: "a", name: "broken", arguments: {} },
          { id: "b", name: "add", arguments: { a: "x", b: 1 } },
          { id: "c", name: "nothing", arguments: {} },
          { id: "d", name: "add", arguments: "no json" },
        ],
      },
      { text: "Sorry." },
    );
    const chatId = await withTools("go");
    expect(await world.until(chatId, isAtRest)).toMatchObject(IDLE);
    const results = (await world.history(chatId))[2]?.parts ?? [];
    expect(results).toEqual([
      result("a", "broken", "The tool failed: the sky fell"),
      result("b", "add", expect.stringContaining("Invalid arguments.") as unknown),
      result("c", "nothing", 'There is no tool named "nothing". The tools are: add, broken.'),
      result("d", "add", expect.stringContaining("Invalid arguments.") as unknown),
    ]);
  });

  function result(toolCallId: string, toolName: string, error: unknown) {
    const times = { startedAt: expect.any(Number), durationMs: expect.any(Number) };
    return { type: "tool-result", toolCallId, toolName, result: { error }, isError: true, ...times };
  }
});

describe("the queue", () => {
  test("a message sent while the chat is busy is processed when the turn is over", async () => {
    await start();
    world.answers({ text: ["one ", "two"], delayMs: 1_000 }, { text: "And again." });
    const chatId = await world.createChat(replica, "first");
    await world.untilStreamed(chatId, "one ");
    const sent = await world.send(replica, chatId, "second");
    expect([sent.message, sent.queued?.parts]).toEqual([null, [{ type: "text", text: "second" }]]);
    await world.send(replica, chatId, "third");
    world.modelClock.advance(1_000);
    expect(await world.until(chatId, isAtRest)).toMatchObject(IDLE);
    expect(await world.historyLines(chatId)).toEqual([
      "user: first",
      "assistant: one two",
      "user: second",
      "assistant: And again.",
      "user: third",
      "assistant: No more answers.",
    ]);
  });

  test("a deleted message is never processed, a promoted one interrupts and is processed first", async () => {
    await start();
    world.answers({ text: ["one ", "two"], hang: 1 }, { text: "Yes?" });
    const chatId = await world.createChat(replica, "first");
    await world.untilStreamed(chatId, "one ");
    const [second, third, fourth] = [
      await world.send(replica, chatId, "second"),
      await world.send(replica, chatId, "third"),
      await world.send(replica, chatId, "fourth"),
    ];
    const { commands } = replica;
    await commands.deleteQueuedMessage(world.viewer, third.queued?.id ?? "");
    expect(await commands.deleteQueuedMessage(world.viewer, third.queued?.id ?? "")).toMatchObject({
      ok: false,
      refusal: { code: "NOT_FOUND" },
    });
    await commands.promoteQueuedMessage(world.viewer, fourth.queued?.id ?? "");
    expect(second.queued).not.toBeNull();
    expect(await world.until(chatId, isAtRest)).toMatchObject(IDLE);
    expect(await world.historyLines(chatId)).toEqual([
      "user: first",
      "assistant: one ",
      "user: fourth",
      "assistant: Yes?",
      "user: second",
      "assistant: No more answers.",
    ]);
  });
});
