/** What the model said last in each of several chats. */
import type { MessagePart } from "../../domain/chats/message-parts.js";
import type { Queryable, Statement } from "../common/database.js";
import { CONTENT_VERSION, type MessageDbRow, toParts } from "./rows.js";

/** An answer with more than this, because its calls carry whole files, is read as the beginnings of its texts. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Of each text; its first line is looked for in fewer. */
const TEXT_CHARACTERS = 8_000;
const MAX_TEXTS = 16;

// Index: chat_messages_history_idx, read backwards until the first answer.
const LAST: Statement = {
  name: "messages.last-answers",
  text: `SELECT m.chat_id, m.role, m.content_version,
      CASE WHEN m.content_version <> ${CONTENT_VERSION} OR octet_length(m.content::text) <= ${MAX_ANSWER_BYTES}
        THEN m.content
        ELSE (SELECT coalesce(jsonb_agg(jsonb_build_object('type', 'text', 'text', left(ltrim(part ->> 'text'), ${TEXT_CHARACTERS}))), '[]')
          FROM (SELECT part FROM jsonb_array_elements(m.content) part WHERE part ->> 'type' = 'text' LIMIT ${MAX_TEXTS}) texts)
      END AS content
    FROM unnest($1::uuid[]) AS wanted (chat_id) CROSS JOIN LATERAL (
      SELECT m.chat_id, m.role, m.content_version, m.content FROM chat_messages m
      WHERE m.chat_id = wanted.chat_id AND m.role = 'assistant' AND m.visibility = 'both' AND NOT m.is_deleted
      ORDER BY m.id DESC LIMIT 1) m`,
};

/**
 * What the newest message of the model itself says (notices to people are not its), for each chat that has one; of a
 * large one no more than the beginnings of its texts. Visibility is the caller's to judge.
 */
export async function findLastAnswers(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, MessagePart[]>> {
  type Row = Pick<MessageDbRow, "chat_id" | "role" | "content_version" | "content">;
  const rows = await db.query<Row>(LAST, [chatIds]);
  return new Map(rows.map((row) => [row.chat_id, toParts(row.role, row)]));
}
