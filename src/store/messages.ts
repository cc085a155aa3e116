/** Reading history as people see it: without what only the model reads, and without what was edited away. */
import type { MessageRow } from "../domain/chat-events.js";
import type { TokenUsage } from "../domain/message-parts.js";
import type { Viewer } from "../domain/viewer.js";
import type { Queryable, Statement } from "./database.js";
import { type Page, type PageRequest, toPage } from "./pages.js";
import { type Owned, type MessageDbRow, messageColumns, toMessageRow, toUsage } from "./rows.js";

/** Visible to people; `chat_messages_history_idx` carries the second half. */
const SHOWN = "m.visibility IN ('user', 'both') AND NOT m.is_deleted";

/** Pages of many chats in one statement, each by chat_messages_history_idx. */
function listStatement(direction: PageRequest["direction"]): Statement {
  return {
    name: `messages.list.${direction}`,
    text: `
      SELECT m.* FROM unnest($1::uuid[]) AS wanted (chat_id) CROSS JOIN LATERAL (
        SELECT ${messageColumns} FROM chat_messages m
        WHERE m.chat_id = wanted.chat_id AND ${SHOWN} AND m.id > $2 AND m.id < $3
        ORDER BY m.id ${direction === "forwards" ? "ASC" : "DESC"}
        LIMIT $4
      ) m
      ORDER BY m.id ${direction === "forwards" ? "ASC" : "DESC"}`,
  };
}

const LIST = { forwards: listStatement("forwards"), backwards: listStatement("backwards") };

const GREATEST_INT8 = "9223372036854775807";

/** Oldest first; a message's place is its id alone (`key` and `id` are both that id). */
export async function listMessages(
  db: Queryable,
  chatId: string,
  page: PageRequest,
): Promise<Page<MessageRow>> {
  const pages = await listMessagesOfChats(db, [chatId], page);
  return pages.get(chatId) ?? toPage<MessageRow>(page, []);
}

/** The same page of several chats at once; every chat asked for has an entry. The chats' visibility is the caller's. */
export async function listMessagesOfChats(
  db: Queryable,
  chatIds: readonly string[],
  page: PageRequest,
): Promise<Map<string, Page<MessageRow>>> {
  const rows = await db.query<MessageDbRow>(LIST[page.direction], [
    chatIds,
    page.after?.id ?? "0",
    page.before?.id ?? GREATEST_INT8,
    page.limit + 1,
  ]);
  const found = new Map(chatIds.map((id) => [id, [] as MessageRow[]]));
  for (const row of rows) found.get(row.chat_id)?.push(toMessageRow(row));
  const pages = [...found].map(([chatId, messages]): [string, Page<MessageRow>] => [
    chatId,
    toPage(
      page,
      messages.map((row) => ({ place: { key: row.id, id: row.id }, row })),
    ),
  ]);
  return new Map(pages);
}

const FIND: Statement = {
  name: "messages.find",
  text: `
    SELECT ${messageColumns}, c.owner_id FROM chat_messages m JOIN chats c ON c.id = m.chat_id
    WHERE m.id = ANY($1::bigint[]) AND ${SHOWN} AND (c.owner_id = $2 OR $3)`,
};

/** Those of the messages that are shown and in chats that the viewer may see, in no order. */
export async function findMessages(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<(MessageRow & Owned)[]> {
  const rows = await db.query<MessageDbRow & { owner_id: string }>(FIND, [
    ids,
    viewer.userId,
    viewer.role === "admin",
  ]);
  return rows.map((row) => ({ ...toMessageRow(row), ownerId: row.owner_id }));
}

/** Null when there is no such message, it is not for people, or the viewer may not see its chat. */
export async function findMessage(db: Queryable, viewer: Viewer, id: string): Promise<MessageRow | null> {
  const [found] = await findMessages(db, viewer, [id]);
  return found ?? null;
}

/** What a model call used, and which model it was. */
export type LastUsage = { usage: TokenUsage; modelConfigId: string | null };

// Index: chat_messages_history_idx, backwards from each chat's newest message to the first that decides.
const LAST_USAGES: Statement = {
  name: "messages.last-usages",
  text: `
    SELECT wanted.chat_id, m.* FROM unnest($1::uuid[]) AS wanted (chat_id) CROSS JOIN LATERAL (
      SELECT m.is_summary, m.model_config_id, m.input_tokens, m.output_tokens, m.reasoning_tokens,
        m.cache_read_tokens, m.cache_write_tokens, m.is_usage_estimated
      FROM chat_messages m
      WHERE m.chat_id = wanted.chat_id AND NOT m.is_deleted AND m.visibility <> 'user'
        AND (m.is_summary OR (m.role = 'assistant' AND m.input_tokens IS NOT NULL))
      ORDER BY m.id DESC LIMIT 1
    ) m`,
};

/** Chats without a model call since their last summary are not in the map. The chats' visibility is the caller's. */
export async function readLastUsages(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, LastUsage>> {
  type Row = MessageDbRow & { chat_id: string };
  const usages = new Map<string, LastUsage>();
  for (const row of await db.query<Row>(LAST_USAGES, [chatIds])) {
    const usage = row.is_summary ? null : toUsage(row);
    if (usage) usages.set(row.chat_id, { usage, modelConfigId: row.model_config_id });
  }
  return usages;
}
