// Storage limits in turns: between steps, in tools, and while the disk is full.
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import { defineTool, ToolAnswer } from "../../src/engine/tools/tool.js";
import { StorageCount } from "../../src/services/files/storage-count.js";
import { createLog } from "../../src/lib/log.js";
import { setStorageLimitOverride } from "../../src/store/files/storage.js";
import { isAtRest, World, type Replica } from "../engine/world.js";

let world: World;
let replica: Replica;
let asked = 0;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());
afterEach(async () => {
  await world.closeReplicas();
  await world.run("DELETE FROM storage_limit_overrides");
  await world.run("DELETE FROM chats");
});

const text = defineTool({
  name: "text",
  description: "Returns a long text.",
  parameters: z.object({}),
  run: () => Promise.resolve({ words: "x".repeat(5_000) }),
});
const paint = defineTool({
  name: "paint",
  description: "Paints.",
  parameters: z.object({}),
  run: () =>
    Promise.resolve(
      new ToolAnswer({ isPainted: true }, [
        { name: "a.bin", mediaType: "application/octet-stream", bytes: randomBytes(9_000) },
      ]),
    ),
});

async function start(options: Parameters<World["replica"]>[0] = {}): Promise<void> {
  replica = world.replica({ tools: [text, paint], ...options });
  await replica.worker.start();
}

/** As by an admin's command. */
async function setLimit(limitBytes: bigint | null): Promise<void> {
  await setStorageLimitOverride(world.database, world.viewer.userId, { limitBytes });
  world.bus.publishConfigChange("storage-limits");
}

function answers(...steps: ScriptStep[]): void {
  asked = 0;
  world.answer = () => steps[asked++] ?? { text: "No more answers." };
}

const call = (name: string): ScriptStep => ({
  text: "I do.",
  toolCalls: [{ id: "c1", name, arguments: {} }],
});
const kindsOf = (lines: string[]) => lines.map((line) => line.split(":")[0]);

describe("a turn in which the limit is reached", () => {
  test("stores what was paid for, ends before the next call with an error, and continues when there is space", async () => {
    await start({ storage: { defaultBytes: 3_000n } });
    answers(call("text"), { text: "Done." });
    const chatId = await world.createChat(replica, "Tell me");
    const stopped = await world.until(chatId, isAtRest);
    expect([stopped.status, stopped.lastError?.kind, stopped.lastError?.isRetryable, asked]).toEqual([
      ...["error", "storage_limit", false, 1],
    ]);
    expect(stopped.lastError?.message).toMatch(
      /^There is not enough space within the storage limit of 2\.9 KiB: 5\.\d KiB are in use/,
    );
    expect(kindsOf(await world.historyLines(chatId))).toEqual(["user", "assistant", "tool"]);
    await expect(world.send(replica, chatId, "Go on")).rejects.toThrow("the storage limit of 2.9 KiB");
    await setLimit(null);
    await world.send(replica, chatId, "Go on");
    expect((await world.until(chatId, isAtRest)).status).toBe("waiting");
  });

  test("saves a tool's result and says why its file is not stored", async () => {
    await start({ storage: { defaultBytes: 8_000n } });
    answers(call("paint"), { text: "Painted." });
    const chatId = await world.createChat(replica, "Paint");
    expect((await world.until(chatId, isAtRest)).status).toBe("waiting");
    const [, , result] = await world.historyLines(chatId);
    expect(result).toMatch(
      /1 of the tool's files could not be kept: .* storage limit of 7\.8 KiB.*"isPainted":true/,
    );
    expect(await world.run("SELECT id FROM files")).toEqual([]);
  });
});

test("while the disk is almost full turns end with an error that says so, and continue when there is space", async () => {
  const space = { isLow: true, hasSpaceFor: () => Promise.resolve(false) };
  await start({ storage: { space } });
  answers({ text: "Hello." });
  const chatId = await world.createChat(replica, "Hi");
  const stopped = await world.until(chatId, isAtRest);
  expect([stopped.lastError?.kind, stopped.lastError?.isRetryable, asked]).toEqual(["storage_full", true, 0]);
  space.isLow = false;
  await world.send(replica, chatId, "Again");
  expect([(await world.until(chatId, isAtRest)).status, asked]).toEqual(["waiting", 1]);
});

test("far from the limit many turns cost one reading, and a changed limit is read at once", async () => {
  await start({ storage: { defaultBytes: 5n * 1024n ** 3n } });
  answers(...Array.from({ length: 20 }, () => ({ text: "Yes." })));
  const readings = async (work: () => Promise<unknown>) => {
    let count = 0;
    const { database } = world;
    const query = database.query.bind(database);
    database.query = (statement, values) => {
      if (statement.name === "storage.status") count += 1;
      return query(statement, values);
    };
    await work();
    database.query = query;
    return count;
  };
  let chatId = "";
  const turns = async () => {
    chatId = await world.createChat(replica, "One");
    await world.until(chatId, isAtRest);
    for (let turn = 0; turn < 5; turn += 1) {
      await world.send(replica, chatId, "Another");
      await world.until(chatId, isAtRest);
    }
  };
  expect(await readings(turns)).toBe(1);
  await setLimit(1n);
  await expect(world.send(replica, chatId, "More")).rejects.toThrow("the storage limit of 1 byte:");
});

test("older chats are counted in several runs until all are", async () => {
  await start();
  answers({ text: "One." }, { text: "Two." });
  for (const text of ["a", "b"]) await world.until(await world.createChat(replica, text), isAtRest);
  const before = await world.run("SELECT chat_id, bytes FROM chat_storage ORDER BY chat_id");
  await world.run("DELETE FROM chat_storage");
  await world.run("UPDATE storage_count SET counted_to = NULL, is_done = false");
  const count = new StorageCount({
    ...{ database: world.database, clock: replica.clock, log: createLog("silent") },
  });
  expect([await count.count(), await count.count()]).toEqual([2, 0]);
  expect(await world.run("SELECT chat_id, bytes FROM chat_storage ORDER BY chat_id")).toEqual(before);
  expect(await world.run("SELECT is_done FROM storage_count")).toEqual([{ is_done: true }]);
  await count.close();
});
