/** The newest answer of the model in each of several chats. */
import type { MessagePart } from "../../domain/chats/message-parts.js";
import type { Queryable, Statement } from "../common/database.js";
import type { ChatMessageEntity } from "./chat-message.entity.js";
import { CONTENT_VERSION, toParts } from "./rows.js";

/** An answer with more than this, because its calls carry whole files, is read as the beginnings of its texts. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Of each text; its first line is looked for in fewer. */
const TEXT_CHARACTERS = 8_000;
const MAX_TEXTS = 16;

// Index: chat_messages_history_idx, read backwards until the first answer.
const LAST: Statement = {
  name: "messages.last-answers",
  text: `SELECT m.chat_id AS "chatId", m.role, m.content_version AS "contentVersion",
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
 * The parts of each chat's newest answer, notices to users excepted; of a large one only the beginnings of its texts.
 * Chats without an answer have no entry. The caller checks the chats' visibility.
 */
export async function findLastAnswers(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, MessagePart[]>> {
  type Row = Pick<ChatMessageEntity, "chatId" | "role" | "contentVersion" | "content">;
  const rows = await db.query<Row>(LAST, [chatIds]);
  return new Map(rows.map((row) => [row.chatId, toParts(row.role, row)]));
}
