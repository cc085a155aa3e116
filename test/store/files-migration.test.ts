// Files from before uploads: the migration finds their chats, there and back.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Database } from "../../src/store/common/database.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertChat, insertMessage, insertViewer } from "../support/database/rows.js";

let place: TestDatabase;
beforeAll(async () => {
  place = await createTestDatabase();
});
afterAll(() => place.drop());

const NAME = "Files1763700000016";

/** Down to before it, and up again. */
async function migrateAnew(meanwhile: () => Promise<unknown>): Promise<void> {
  for (let undone = ""; undone !== NAME;) {
    const [row] = await place.dataSource.query<{ name: string }[]>(
      "SELECT name FROM migrations ORDER BY id DESC LIMIT 1",
    );
    if (row === undefined) throw new Error(`${NAME} was never run.`);
    undone = row.name;
    await place.dataSource.undoLastMigration();
  }
  await meanwhile();
  await place.dataSource.runMigrations();
}

const idOf = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;

test("a file goes to the first chat that shows it, by whichever version its message was written", async () => {
  const { dataSource } = place;
  const db = new Database(dataSource);
  const { userId } = await insertViewer(db);
  const [one, two] = [await insertChat(db, { ownerId: userId }), await insertChat(db, { ownerId: userId })];
  const contents: [string, unknown][] = [
    [one, [{ type: "tool-result", toolCallId: "c", files: [{ fileId: idOf(1) }, { fileId: idOf(2) }] }]],
    [
      one,
      [
        { type: "text", text: "hi" },
        { type: "file", fileId: idOf(3) },
      ],
    ],
    [
      two,
      [
        { type: "file", data: { file_id: idOf(4) } },
        { type: "file", fileId: idOf(1) },
      ],
    ],
    [two, "only words"],
  ];
  await migrateAnew(async () => {
    for (const [chatId, content] of contents) {
      const id = await insertMessage(db, { chatId, text: "-" });
      await dataSource.query("UPDATE chat_messages SET content = $2 WHERE id = $1", [
        id,
        JSON.stringify(content),
      ]);
    }
    for (const digit of [1, 2, 3, 4, 5])
      await dataSource.query(
        `INSERT INTO files (id, owner_id, name, media_type, size_bytes, content)
         VALUES ($1, $2, 'a', 'image/png', 3, 'abc')`,
        [idOf(digit), userId],
      );
  });
  const rows = await dataSource.query<{ id: string; chat_id: string | null; whole: boolean }[]>(
    "SELECT id, chat_id, ready_at = created_at AND sha256 = sha256('abc') AS whole FROM files ORDER BY id",
  );
  expect(rows).toEqual([
    { id: idOf(1), chat_id: one, whole: true },
    { id: idOf(2), chat_id: one, whole: true },
    { id: idOf(3), chat_id: one, whole: true },
    { id: idOf(4), chat_id: two, whole: true },
    { id: idOf(5), chat_id: null, whole: true },
  ]);
});
