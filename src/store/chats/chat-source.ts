/** Reads for live events and turns: a chat's state, its changes since a revision, and history as the model sees it. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { Database, Queryable, Statement } from "../common/database.js";
import {
  chatStateColumns,
  messageColumns,
  toChatState,
  toMessageRow,
  type ChatStateDbRow,
  type MessageDbRow,
  type Owned,
} from "./rows.js";
import { boundedByBytes, type SizedDbRow, unlessTooLarge } from "../common/sized-rows.js";
import { readQueue } from "./transitions.js";

const STATE: Statement = {
  name: "chat-state",
  text: `SELECT c.owner_id AS "ownerId", ${chatStateColumns} FROM chats c WHERE c.id = $1`,
};

/** Of the rows replayed to a reader that resumes. More does not fit into its queue anyway. */
const MAX_REPLAYED_BYTES = 4 * 1024 * 1024;

// Index: chat_messages_revision_idx.
const ROWS_FROM: Statement = {
  name: "messages-from-revision",
  text: `${boundedByBytes(
    `SELECT ${messageColumns} FROM chat_messages m
      WHERE m.chat_id = $1 AND m.revision >= $2 AND NOT m.is_deleted AND m.visibility <> 'model'
      ORDER BY m.revision, m.id LIMIT $3`,
    "$4",
  )} ORDER BY revision, id`,
};

// Index: chat_messages_history_idx.
const HISTORY: Statement = {
  name: "messages-history",
  text: `SELECT ${messageColumns} FROM chat_messages m
    WHERE m.chat_id = $1 AND NOT m.is_deleted AND m.visibility <> 'user' ORDER BY m.id`,
};

const VERSIONS: Statement = {
  name: "chat-versions",
  text: `SELECT id, snapshot_version FROM chats WHERE id = ANY ($1::uuid[])`,
};

/** Two statements when messages are queued, else one. The queue may be newer than the state; its event then follows. */
export async function readChat(queryable: Queryable, chatId: string) {
  const [row] = await queryable.query<ChatStateDbRow & Owned>(STATE, [chatId]);
  if (!row) return null;
  const state: ChatState = toChatState(row);
  const queue = state.queuedIds.length === 0 ? [] : await readQueue(queryable, chatId);
  return { ownerId: row.ownerId, state, queue };
}

/**
 * Rows visible to users that were written at `fromRevision` or later, oldest revision first; null when their contents are
 * larger than a replay may carry.
 */
export async function readRowsFrom(
  queryable: Queryable,
  chatId: string,
  fromRevision: number,
  limit: number,
): Promise<MessageRow[] | null> {
  const values = [chatId, fromRevision, limit, MAX_REPLAYED_BYTES];
  const rows = await queryable.query<MessageDbRow & SizedDbRow>(ROWS_FROM, values);
  return unlessTooLarge(rows, MAX_REPLAYED_BYTES, toMessageRow)?.found ?? null;
}

/** The chat and its rows from `fromRevision` on, as of one instant; null when there is no such chat. */
export function readChatAndRowsFrom(database: Database, chatId: string, fromRevision: number, limit: number) {
  return database.snapshot(async (queryable) => {
    const fresh = await readChat(queryable, chatId);
    return fresh && { fresh, rows: await readRowsFrom(queryable, chatId, fromRevision, limit) };
  });
}

/** Every message the model may see, oldest first. */
export async function readHistory(queryable: Queryable, chatId: string): Promise<MessageRow[]> {
  return (await queryable.query<MessageDbRow>(HISTORY, [chatId])).map(toMessageRow);
}

/** The snapshot versions of those of the chats that exist. */
export async function readVersions(queryable: Queryable, chatIds: string[]): Promise<Map<string, number>> {
  const rows = await queryable.query<{ id: string; snapshot_version: string }>(VERSIONS, [chatIds]);
  return new Map(rows.map((row) => [row.id, Number(row.snapshot_version)]));
}
