// The worker's plain days: turns of text and tools, failures, the client's own tools, the queue.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import { defineTool, type Tool } from "../../src/engine/tools/tool.js";
import { z } from "zod";
import { isAtRest, World, type Replica } from "./world.js";

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

/** Answers one after the other, whatever is asked. */
function answers(...steps: ScriptStep[]): void {
  let next = 0;
  world.answer = () => steps[next++] ?? { text: "No more answers." };
}

const REST = {
  status: "waiting",
  workerId: null,
  runnerId: null,
  retry: null,
  lastError: null,
  actionDeadlineAt: null,
  openCalls: [],
  queuedIds: [],
};

test("a message is answered, and the chat rests", async () => {
  await start();
  answers({ text: "Hello to you.", usage: { inputTokens: 7, outputTokens: 3 } });
  const chatId = await world.createChat(replica, "Hello");
  expect(await world.until(chatId, isAtRest)).toMatchObject(REST);
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
      isSummary: false,
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
      costMicros: null,
      runtimeMs: 0,
      generation: "gen_1_1",
      isSummary: false,
      revision: 4,
      createdAt: replica.clock.now(),
    },
  ]);
});

test("a turn of text costs at most 8 statements and 4 transactions", async () => {
  await start();
  answers({ text: "Warm." }, { text: "Measured." });
  const chatId = await world.createChat(replica, "Warm up");
  await world.until(chatId, isAtRest);
  await replica.worker.close();
  const before = { ...world.database.counters };
  replica = world.replica();
  await replica.worker.start();
  const started = { ...world.database.counters };
  await world.send(replica, chatId, "Again");
  await world.untilStatus(chatId, "running");
  await world.untilStatus(chatId, "waiting");
  const { statements, transactions } = world.database.counters;
  expect(started.statements).toBeGreaterThan(before.statements);
  const spent = { statements: statements - started.statements, transactions: transactions - started.transactions };
  // Two of each are the test's own looks at the chat.
  expect(spent.statements - 2).toBeLessThanOrEqual(8);
  expect(spent.transactions - 2).toBeLessThanOrEqual(4);
});
