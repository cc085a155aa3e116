// How many bytes users store, against the slow sum over everything that is stored.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Database } from "../../src/store/common/database.js";
import { countNextChat } from "../../src/store/files/storage-count.js";
import { demandStorage, readStorageStatus, StorageLimitExceeded } from "../../src/store/files/storage.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertChat, insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let db: Database;
const run = <Row = unknown>(text: string, values: unknown[] = []) =>
  own.dataSource.query<Row[]>(text, values);
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterAll(() => own.drop());

const used = async (userId: string) => (await readStorageStatus(db, userId, null)).usedBytes;

/** Everything of the user's, measured now. */
async function measured(userId: string): Promise<bigint> {
  const [row] = await run<{ bytes: string }>(
    `WITH own AS (SELECT id FROM chats WHERE owner_id = $1)
     SELECT (SELECT coalesce(sum(octet_length(content::text)), 0) FROM (
         SELECT chat_id, content FROM chat_messages UNION ALL SELECT chat_id, content FROM chat_queued_messages) c
       WHERE chat_id IN (SELECT id FROM own) AND content <> '[]')
       + (SELECT coalesce(sum(octet_length(client_tools::text)), 0) FROM chats
         WHERE owner_id = $1 AND client_tools <> '[]')
       + (SELECT coalesce(sum(size_bytes), 0) FROM files WHERE owner_id = $1) AS bytes`,
    [userId],
  );
  return BigInt(row?.bytes ?? -1);
}

const content = (length: number) => JSON.stringify([{ type: "text", text: "ä".repeat(length) }]);
const MESSAGES = `INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, revision)
  SELECT $1, 'user', 'both', 1, c, 1 FROM unnest($2::jsonb[]) c`;
const QUEUED = `INSERT INTO chat_queued_messages (id, chat_id, author_id, content_version, content)
  VALUES (gen_random_uuid(), $1, $2, 1, $3)`;
const SAY_QUEUED = `WITH said AS (
    DELETE FROM chat_queued_messages WHERE id = (SELECT min(id::text)::uuid FROM chat_queued_messages WHERE chat_id = $1)
    RETURNING *)
  INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, revision)
  SELECT chat_id, 'user', 'both', 1, content, 1 FROM said`;
const FILE = `INSERT INTO files (id, owner_id, name, media_type, size_bytes) VALUES ($1, $2, 'a', 'text/plain', $3)`;
const ATTACH = `UPDATE files SET chat_id = $1, owner_id = $2 WHERE id =
  (SELECT id FROM files WHERE owner_id = $2 AND chat_id IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)`;

const ACTS = [
  ...["say", "queue", "say queued", "drop queue", "edit away", "announce", "attach", "lose file"],
  ...["delete messages", "delete chat"],
] as const;
const act = fc.record({
  what: fc.constantFrom(...ACTS),
  chat: fc.nat({ max: 3 }),
  length: fc.nat({ max: 3000 }),
});

type Act = { what: (typeof ACTS)[number]; chat: number; length: number };

async function perform(userId: string, chats: string[], { what, chat, length }: Act): Promise<void> {
  const chatId = chats[chat] ?? "";
  const [text, values] = statementOf(userId, chatId, { what, length });
  // Rows of calls without a message and announced files are written without a chat's lock, all else with it.
  const isLocked = what !== "say" && what !== "announce";
  await db
    .transaction(async (transaction) => {
      if (isLocked) await transaction.query({ name: "test.lock", text: LOCK }, [chatId]);
      await transaction.query({ name: `test.${what}`, text }, values);
    })
    // The chat has gone.
    .catch((error: unknown) => expect(String(error)).toContain("foreign key"));
}

const LOCK = "SELECT 1 FROM chats WHERE id = $1 FOR UPDATE";

function statementOf(
  userId: string,
  chatId: string,
  { what, length }: Pick<Act, "what" | "length">,
): [string, unknown[]] {
  switch (what) {
    case "say":
      return [MESSAGES, [chatId, [content(length), content(1), "[]"]]];
    case "queue":
      return [QUEUED, [chatId, userId, content(length)]];
    case "say queued":
      return [SAY_QUEUED, [chatId]];
    case "drop queue":
      return ["DELETE FROM chat_queued_messages WHERE chat_id = $1", [chatId]];
    case "edit away":
      return ["UPDATE chat_messages SET is_deleted = true, runtime_ms = 5 WHERE chat_id = $1", [chatId]];
    case "announce":
      return [FILE, [randomUUID(), userId, length]];
    case "attach":
      return [ATTACH, [chatId, userId]];
    case "lose file":
      return ["DELETE FROM files WHERE size_bytes < $2 AND chat_id = $1", [chatId, length]];
    case "delete messages":
      return ["DELETE FROM chat_messages WHERE chat_id = $1", [chatId]];
    case "delete chat":
      return ["DELETE FROM chats WHERE id = $1", [chatId]];
  }
}

async function newChats(userId: string): Promise<string[]> {
  const chats: string[] = [];
  for (let count = 0; count < 4; count += 1) chats.push(await insertChat(db, { ownerId: userId }));
  return chats;
}

test("the sum equals what is stored, whatever is written and removed at the same time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 60 }), async (acts) => {
      const { userId } = await insertViewer(db);
      const chats = await newChats(userId);
      // Sixteen at a time: as many as connections would have it, in any order.
      for (let first = 0; first < acts.length; first += 16) {
        await Promise.all(acts.slice(first, first + 16).map((it) => perform(userId, chats, it)));
      }
      expect(await used(userId)).toBe(await measured(userId));
    }),
    { numRuns: 12 },
  );
});

test("a chat adds the bytes of its client tools, and removes all when it is deleted", async () => {
  const { userId } = await insertViewer(db);
  const [chatId = ""] = await newChats(userId);
  await run("UPDATE chats SET client_tools = '[]' WHERE id = $1", [chatId]);
  await run(
    `INSERT INTO chats (id, owner_id, title, status, snapshot_version, history_version, reset_version, queue_version,
       status_version, retry_version, attempt, client_tools)
     SELECT gen_random_uuid(), owner_id, title, status, 1, 1, 0, 0, 1, 0, 0, $2 FROM chats WHERE id = $1`,
    [chatId, JSON.stringify([{ name: "paint", inputSchema: { type: "object", title: "x".repeat(5_000) } }])],
  );
  const before = await used(userId);
  expect([before > 5_000n, before]).toEqual([true, await measured(userId)]);
  await run("DELETE FROM chats WHERE owner_id = $1", [userId]);
  expect(await used(userId)).toBe(0n);
});

test("chats of older versions are counted one after the other, while they are written to", async () => {
  const { userId } = await insertViewer(db);
  const chats = await newChats(userId);
  const write = (chatId: string) => run(MESSAGES, [chatId, [content(700)]]);
  for (const chatId of chats) await write(chatId);
  await run(FILE, [randomUUID(), userId, 999]);
  await run(ATTACH, [chats[0], userId]);
  await run(QUEUED, [chats[1], userId, content(50)]);
  // As the migration finds it.
  await run("DELETE FROM chat_storage");
  await run("UPDATE storage_count SET counted_to = NULL, is_done = false");
  const counting = Array.from({ length: 3 }, async () => {
    const steps: string[] = [];
    while (steps.at(-1) !== "done") steps.push(await countNextChat(db));
    return steps.length;
  });
  const writing = Array.from({ length: 40 }, (_, index) => write(chats[index % 4] ?? ""));
  await Promise.all([...counting, ...writing]);
  expect(await used(userId)).toBe(await measured(userId));
  expect(await countNextChat(db)).toBe("done");
});

test("of many concurrent writes that fit alone, as many pass as fit together", async () => {
  const { userId } = await insertViewer(db);
  const [chatId = ""] = await newChats(userId);
  const limit = 10_000n;
  const store = () =>
    db.transaction(async (transaction) => {
      await transaction.query({ name: "test.store", text: MESSAGES }, [chatId, [content(1_480)]]);
      await demandStorage(transaction, { userId, defaultBytes: limit, addedBytes: 0 });
    });
  const ends = await Promise.allSettled(Array.from({ length: 8 }, store));
  const refusals = ends.filter((end) => end.status === "rejected");
  expect(refusals).toHaveLength(5);
  expect(refusals.every(({ reason }) => reason instanceof StorageLimitExceeded)).toBe(true);
  expect((await used(userId)) <= limit).toBe(true);
});
