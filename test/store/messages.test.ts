import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Viewer } from "../../src/domain/users/viewer.js";
import { Database } from "../../src/store/common/database.js";
import {
  findMessage,
  findMessages,
  listMessages,
  listMessagesOfChats,
  readMessagePages,
} from "../../src/store/chats/messages.js";
import type { PageRequest } from "../../src/store/common/pages.js";
import { findQueuedMessages, listQueues } from "../../src/store/chats/queue.js";
import { UnknownContentVersion } from "../../src/store/chats/rows.js";
import { type TestDatabase, createTestDatabase } from "../support/database/database.js";
import { insertChat, insertMessage, insertQueue, insertViewer } from "../support/database/rows.js";

let own: TestDatabase;
let db: Database;
let viewer: Viewer;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
  viewer = await insertViewer(db);
});
afterAll(() => own.drop());

const LAST_PAGE: PageRequest = { direction: "backwards", limit: 50, after: null, before: null };

async function chatWith(count: number): Promise<{ chatId: string; ids: string[] }> {
  const chatId = await insertChat(db, { ownerId: viewer.userId });
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push(await insertMessage(db, { chatId, text: `${index}` }));
  return { chatId, ids };
}

test("a long history is read from its end, page by page, while new messages arrive", async () => {
  const { chatId, ids } = await chatWith(105);
  const pages: string[][] = [];
  let before: PageRequest["before"] = null;
  for (let more = true; more;) {
    const page = await listMessages(db, chatId, { ...LAST_PAGE, limit: 25, before });
    pages.unshift(page.rows.map(({ row }) => row.id));
    more = page.hasPreviousPage;
    before = page.rows[0]?.cursor ?? null;
    await insertMessage(db, { chatId, text: "new" });
  }
  expect(pages.map((page) => page.length)).toEqual([5, 25, 25, 25, 25]);
  expect(pages.flat()).toEqual(ids);
});

test("a history is read from its start too", async () => {
  const { chatId, ids } = await chatWith(4);
  const first = await listMessages(db, chatId, { ...LAST_PAGE, direction: "forwards", limit: 3 });
  const place = first.rows.at(-1)?.cursor ?? null;
  const second = await listMessages(db, chatId, {
    ...LAST_PAGE,
    direction: "forwards",
    limit: 3,
    after: place,
  });
  expect([first, second].map((page) => ({ ...page, rows: page.rows.map(({ row }) => row.id) }))).toEqual([
    { rows: ids.slice(0, 3), hasPreviousPage: false, hasNextPage: true },
    { rows: ids.slice(3), hasPreviousPage: true, hasNextPage: false },
  ]);
});

test("messages for the model only, and deleted ones, are not shown", async () => {
  const { chatId, ids } = await chatWith(1);
  const hidden = await insertMessage(db, { chatId, text: "for the model", visibility: "model" });
  const deleted = await insertMessage(db, { chatId, text: "edited away", isDeleted: true });
  const shown = await insertMessage(db, { chatId, text: "for users", visibility: "user" });
  const page = await listMessages(db, chatId, LAST_PAGE);
  expect({
    listed: page.rows.map(({ row }) => row.id),
    found: await Promise.all(
      [hidden, deleted, shown].map(async (id) => (await findMessage(db, viewer, id))?.id),
    ),
  }).toEqual({ listed: [...ids, shown], found: [undefined, undefined, shown] });
});

test("the same page of several chats is one statement", async () => {
  const [one, two] = [await chatWith(3), await chatWith(1)];
  const empty = randomUUID();
  const before = db.counters.statements;
  const pages = await listMessagesOfChats(db, [one.chatId, two.chatId, empty], { ...LAST_PAGE, limit: 2 });
  expect({
    statements: db.counters.statements - before,
    pages: [...pages].map(([id, page]) => [id, page.rows.map(({ row }) => row.id), page.hasPreviousPage]),
  }).toEqual({
    statements: 1,
    pages: [
      [one.chatId, one.ids.slice(1), true],
      [two.chatId, two.ids, false],
      [empty, [], false],
    ],
  });
});

test("a page ends early when its messages are large, and says that there are more", async () => {
  const { chatId, ids } = await chatWith(0);
  for (let index = 0; index < 5; index += 1)
    ids.push(await insertMessage(db, { chatId, text: "x".repeat(1_000) }));
  const { chatId: other, ids: others } = await chatWith(2);
  const read = (pageBytes: number, allBytes: number, page = LAST_PAGE) =>
    readMessagePages(db, [chatId, other], page, { pageBytes, allBytes });
  const shown = (pages: Awaited<ReturnType<typeof read>>) =>
    [...(pages?.found.values() ?? [])].map((page) => [
      page.rows.map(({ row }) => row.id),
      page.hasPreviousPage,
      page.hasNextPage,
    ]);
  expect(shown(await read(2_500, 100_000))).toEqual([
    [ids.slice(2), true, false],
    [others, false, false],
  ]);
  expect(shown(await read(1, 100_000, { ...LAST_PAGE, direction: "forwards" }))).toEqual([
    [ids.slice(0, 1), false, true],
    [others.slice(0, 1), false, true],
  ]);
  expect((await read(2_500, 100_000))?.bytes).toBeGreaterThan(3_000);
  expect([await read(100_000, 5_000), await read(2_500, 3_000)]).toEqual([null, null]);
});

test("messages that are too large together are not read", async () => {
  const { chatId } = await chatWith(0);
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1)
    ids.push(await insertMessage(db, { chatId, text: "x".repeat(1_000) }));
  const found = await Promise.all([2_900, 4_000].map((most) => findMessages(db, viewer, ids, most)));
  expect(found.map((read) => read?.found.length ?? null)).toEqual([null, 3]);
});

test("a message is found by the chat's owner and by admins alone", async () => {
  const { ids } = await chatWith(1);
  const viewers = [viewer, await insertViewer(db), await insertViewer(db, "admin")];
  const found = await Promise.all(viewers.map((it) => findMessage(db, it, ids[0] ?? "")));
  expect(found.map((message) => message?.parts)).toEqual([
    [{ type: "text", text: "0" }],
    undefined,
    [{ type: "text", text: "0" }],
  ]);
});

test("a message of a newer version of Parley is rejected", async () => {
  const { chatId } = await chatWith(0);
  await insertMessage(db, { chatId, text: "future", contentVersion: 2 });
  await expect(listMessages(db, chatId, LAST_PAGE)).rejects.toThrow(UnknownContentVersion);
});

test("a queue is read in the order of sending, by viewers who may see the chat", async () => {
  const { chatId } = await chatWith(0);
  const ids = await insertQueue(db, { chatId, authorId: viewer.userId, texts: ["a", "b", "c"] });
  await own.dataSource.query("UPDATE chats SET queued_ids = $2 WHERE id = $1", [chatId, [ids[2], ids[0]]]);
  const queues = await listQueues(db, [chatId]);
  const stranger = await insertViewer(db);
  expect({
    listed: queues.get(chatId)?.map((row) => row.parts),
    found: new Set((await findQueuedMessages(db, viewer, ids)).map((row) => row.id)),
    strangerFinds: await findQueuedMessages(db, stranger, ids),
  }).toEqual({
    listed: [[{ type: "text", text: "c" }], [{ type: "text", text: "a" }]],
    found: new Set([ids[0], ids[2]]),
    strangerFinds: [],
  });
});
