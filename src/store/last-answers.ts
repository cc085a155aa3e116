/** What the model said last in each of several chats. */
import type { MessageRow } from "../domain/chat-events.js";
import type { Queryable, Statement } from "./database.js";
import { type MessageDbRow, messageColumns, toMessageRow } from "./rows.js";

// Index: chat_messages_history_idx, read backwards until the first answer.
const LAST: Statement = {
  name: "messages.last-answers",
  text: `SELECT m.* FROM unnest($1::uuid[]) AS wanted (chat_id) CROSS JOIN LATERAL (
      SELECT ${messageColumns} FROM chat_messages m
      WHERE m.chat_id = wanted.chat_id AND m.role = 'assistant' AND m.visibility = 'both' AND NOT m.is_deleted
      ORDER BY m.id DESC LIMIT 1) m`,
};

/** The newest message of the model itself (notices to people are not its), for each chat that has one. Visibility is the caller's to judge. */
export async function findLastAnswers(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, MessageRow>> {
  const rows = await db.query<MessageDbRow>(LAST, [chatIds]);
  return new Map(rows.map((row) => [row.chat_id, toMessageRow(row)]));
}
