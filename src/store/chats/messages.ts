/** Reads of history as users see it: without messages for the model only, and without deleted ones. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { TokenUsage } from "../../domain/chats/message-parts.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Page, type PageRequest, toPage } from "../common/pages.js";
import {
  type MessageDbRow,
  messageColumns,
  type Owned,
  readUsage,
  toMessageRow,
  usageColumns,
  type UsageDbRow,
} from "./rows.js";
import type { ChatMessageEntity } from "./chat-message.entity.js";
import { boundedByBytes, type Sized, type SizedDbRow, unlessTooLarge } from "../common/sized-rows.js";

/** Visible to users; `chat_messages_history_idx` has the second condition. */
const SHOWN = "m.visibility IN ('user', 'both') AND NOT m.is_deleted";

/**
 * Pages of many chats in one statement, each by chat_messages_history_idx. A page ends with the message with which its
 * contents pass `$5` bytes, all pages together with the one with which they pass `$6`.
 */
function listStatement(direction: PageRequest["direction"]): Statement {
  const order = direction === "forwards" ? "ASC" : "DESC";
  const page = boundedByBytes(
    `SELECT ${messageColumns} FROM chat_messages m
        WHERE m.chat_id = wanted.chat_id AND ${SHOWN} AND m.id > $2 AND m.id < $3
        ORDER BY m.id ${order} LIMIT $4`,
    "$5",
  );
  return {
    name: `messages.list.${direction}`,
    text: `
      SELECT * FROM (
        SELECT m.*, sum(m.content_bytes) OVER (ROWS UNBOUNDED PRECEDING) AS bytes_of_all
        FROM unnest($1::uuid[]) AS wanted (chat_id) CROSS JOIN LATERAL (${page}) m
      ) m
      WHERE bytes_of_all - content_bytes <= $6::bigint ORDER BY m.id ${order}`,
  };
}

const LIST = { forwards: listStatement("forwards"), backwards: listStatement("backwards") };

const GREATEST_INT8 = "9223372036854775807";

/** Bounds on the bytes of contents: of one page, which ends early with the message that passes it, and of all pages. */
export type PageBounds = { pageBytes: number; allBytes: number };

/** Half of the largest answer, which leaves the rest for its other fields. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Oldest first. A cursor's `key` and `id` are both the message's id. */
export async function listMessages(
  db: Queryable,
  chatId: string,
  page: PageRequest,
): Promise<Page<MessageRow>> {
  const pages = await listMessagesOfChats(db, [chatId], page);
  return pages.get(chatId) ?? toPage<MessageRow>(page, []);
}

/** The same page of several chats at once; every chat asked for has an entry. The caller checks the chats' visibility. */
export async function listMessagesOfChats(
  db: Queryable,
  chatIds: readonly string[],
  page: PageRequest,
): Promise<Map<string, Page<MessageRow>>> {
  const bounds = { pageBytes: MAX_PAGE_BYTES, allBytes: Number.MAX_SAFE_INTEGER };
  return (await readMessagePages(db, chatIds, page, bounds))?.found ?? new Map();
}

/** `listMessagesOfChats` within bounds: null when all pages together are larger than `allBytes`. */
export async function readMessagePages(
  db: Queryable,
  chatIds: readonly string[],
  page: PageRequest,
  { pageBytes, allBytes }: PageBounds,
): Promise<Sized<Map<string, Page<MessageRow>>> | null> {
  const after = page.after?.id ?? "0";
  const before = page.before?.id ?? GREATEST_INT8;
  const values = [chatIds, after, before, page.limit + 1, pageBytes, allBytes];
  const rows = await db.query<MessageDbRow & SizedDbRow>(LIST[page.direction], values);
  const read = unlessTooLarge(rows, allBytes, (row) => row);
  if (!read) return null;
  const found = new Map(chatIds.map((id) => [id, [] as (MessageDbRow & SizedDbRow)[]]));
  for (const row of read.found) found.get(row.chatId)?.push(row);
  const pages = [...found].map(([chatId, messages]): [string, Page<MessageRow>] => {
    const isCut = messages.length < Number(messages[0]?.found_rows ?? 0);
    const placed = messages.map((row) => ({ cursor: { key: row.id, id: row.id }, row: toMessageRow(row) }));
    return [chatId, toPage(page, placed, isCut)];
  });
  return { found: new Map(pages), bytes: read.bytes };
}

const FOUND = `
    SELECT ${messageColumns}, c.owner_id AS "ownerId" FROM chat_messages m JOIN chats c ON c.id = m.chat_id
    WHERE m.id = ANY($1::bigint[]) AND ${SHOWN} AND (c.owner_id = $2 OR $3)`;

const FIND: Statement = { name: "messages.find", text: boundedByBytes(FOUND, "$4") };

/**
 * The messages that are visible to users, in chats that the viewer may see; in no order. Null when they exceed `maxBytes`
 * together.
 */
export async function findMessages(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
  maxBytes: number,
): Promise<Sized<(MessageRow & Owned)[]> | null> {
  type Row = MessageDbRow & SizedDbRow & Owned;
  const rows = await db.query<Row>(FIND, [ids, viewer.userId, viewer.role === "admin", maxBytes]);
  return unlessTooLarge(rows, maxBytes, (row) => ({ ownerId: row.ownerId, ...toMessageRow(row) }));
}

/** Null when there is no such message, it is for the model only, or the viewer may not see its chat. */
export async function findMessage(db: Queryable, viewer: Viewer, id: string): Promise<MessageRow | null> {
  const read = await findMessages(db, viewer, [id], Number.MAX_SAFE_INTEGER);
  return read?.found[0] ?? null;
}

/** The usage of a model call, and its model. */
export type LastUsage = { usage: TokenUsage; modelConfigId: string | null };

// Index: chat_messages_history_idx, backwards from each chat's newest message to the first that decides.
const LAST_USAGES: Statement = {
  name: "messages.last-usages",
  text: `
    SELECT wanted.chat_id AS "chatId", m.* FROM unnest($1::uuid[]) AS wanted (chat_id) CROSS JOIN LATERAL (
      SELECT m.is_summary AS "isSummary", m.model_config_id AS "modelConfigId", ${usageColumns}
      FROM chat_messages m
      WHERE m.chat_id = wanted.chat_id AND NOT m.is_deleted AND m.visibility <> 'user'
        AND (m.is_summary OR (m.role = 'assistant' AND m.input_tokens IS NOT NULL))
      ORDER BY m.id DESC LIMIT 1
    ) m`,
};

/** Chats without a model call since their last summary have no entry. The caller checks the chats' visibility. */
export async function readLastUsages(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, LastUsage>> {
  type Row = UsageDbRow & Pick<ChatMessageEntity, "chatId" | "isSummary" | "modelConfigId">;
  const usages = new Map<string, LastUsage>();
  for (const row of await db.query<Row>(LAST_USAGES, [chatIds])) {
    const usage = row.isSummary ? null : readUsage(row);
    if (usage) usages.set(row.chatId, { usage, modelConfigId: row.modelConfigId });
  }
  return usages;
}
