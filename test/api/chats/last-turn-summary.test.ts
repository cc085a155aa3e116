// The summary of a chat's last turn in lists, read through the schema.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Viewer } from "../../../src/domain/users/viewer.js";
import { Database } from "../../../src/store/common/database.js";
import { createTestDatabase, type TestDatabase } from "../../support/database/database.js";
import { insertChat, insertMessage, insertViewer } from "../../support/database/rows.js";
import { askingOver, type Ask } from "../../support/users/schema-caller.js";

let own: TestDatabase;
let db: Database;
let ask: Ask;
let anna: Viewer;
beforeAll(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
  ask = askingOver(db);
  anna = await insertViewer(db);
});
afterAll(() => own.drop());

/** A chat with these model responses whose newest message is a user's. */
async function chatWith(
  title: string,
  ...answers: { text: string; isDeleted?: boolean; visibility?: "model" }[]
) {
  const chatId = await insertChat(db, { ownerId: anna.userId, title });
  for (const answer of answers) {
    const id = await insertMessage(db, { chatId, ...answer });
    await db.query(
      { name: "test.answer", text: "UPDATE chat_messages SET role = 'assistant' WHERE id = $1" },
      [id],
    );
  }
  await insertMessage(db, { chatId, text: "a user's words" });
}

test("last responses are one line each, read for all chats with one statement", async () => {
  await chatWith("silent");
  await chatWith("answered", { text: "Not this." }, { text: "## It is **fixed**.\n\nMore." });
  await chatWith("edited", { text: "Still here." }, { text: "Taken back.", isDeleted: true });
  await chatWith("hidden", { text: "Seen." }, { text: "A title's call.", visibility: "model" });
  await chatWith("wordless", { text: "Before." }, { text: "   " });
  const before = db.counters.statements;
  const result = await ask(anna, "{ chats(orderBy: RECENTLY_CREATED) { nodes { title lastTurnSummary } } }");
  expect([result, db.counters.statements - before]).toEqual([
    {
      data: {
        chats: {
          nodes: [
            { title: "wordless", lastTurnSummary: null },
            { title: "hidden", lastTurnSummary: "Seen." },
            { title: "edited", lastTurnSummary: "Still here." },
            { title: "answered", lastTurnSummary: "It is fixed." },
            { title: "silent", lastTurnSummary: null },
          ],
        },
      },
    },
    2,
  ]);
});
