/**
 * Read marks of chats, and checksums of chat lists. Read marks are no part of a chat's state: they change neither its
 * snapshot version nor its position in a list.
 */
import { CHAT_STATUSES, type ChatStatus } from "../../domain/chats/chat-state.js";
import { ARCHIVED_FACTOR, type ReadChat } from "../../domain/chats/list-events.js";
import type { Queryable, Statement } from "../common/database.js";

/**
 * Whether the owner of chat `c` has not seen an answer; what a subagent says is for the agent that started it. Index: chat_messages_history_idx, from the mark on, which is
 * near the end of history.
 */
export const isUnreadSql = `(c.parent_chat_id IS NULL AND EXISTS (
    SELECT 1 FROM chat_messages m
    WHERE m.chat_id = c.id AND m.id > coalesce(c.last_read_message_id, 0) AND NOT m.is_deleted
      AND m.role = 'assistant' AND m.visibility <> 'model'))`;

const UNREAD: Statement = {
  name: "chats-unread",
  text: `SELECT c.id FROM chats c WHERE c.id = ANY ($1::uuid[]) AND ${isUnreadSql}`,
};

/** The chats with an answer that their owner has not seen. The caller checks visibility. */
export async function findUnread(db: Queryable, chatIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(UNREAD, [chatIds]);
  return new Set(rows.map(({ id }) => id));
}

// Locks in the order of ids, which avoids deadlocks; chats without unread answers are not locked.
// Index: chat_messages_history_idx.
const MARK: Statement = {
  name: "chats-mark-read",
  text: `WITH unread AS (
      SELECT c.id, c.last_read_message_id FROM chats c
      JOIN unnest($1::uuid[], $2::uuid[]) AS reading (chat_id, reader_id)
        ON c.id = reading.chat_id AND c.owner_id = reading.reader_id
      WHERE ${isUnreadSql}
      ORDER BY c.id FOR NO KEY UPDATE OF c),
    newest AS (
      SELECT unread.id, coalesce(unread.last_read_message_id, 0) AS before, last.id AS message_id
      FROM unread CROSS JOIN LATERAL (
        SELECT m.id FROM chat_messages m WHERE m.chat_id = unread.id AND NOT m.is_deleted
        ORDER BY m.id DESC LIMIT 1) last)
    UPDATE chats c SET last_read_message_id = newest.message_id
    FROM newest WHERE c.id = newest.id AND newest.message_id > newest.before
    RETURNING c.id, c.owner_id, c.status, c.snapshot_version, newest.message_id - newest.before AS moved`,
};

/** Marks chats as read by their owners up to now. Returns those with unread answers; other readers change nothing. */
export async function markRead(
  db: Queryable,
  readings: readonly { chatId: string; readerId: string }[],
): Promise<ReadChat[]> {
  type Row = { id: string; owner_id: string; status: ChatStatus; snapshot_version: string; moved: string };
  const rows = await db.query<Row>(MARK, [
    readings.map(({ chatId }) => chatId),
    readings.map(({ readerId }) => readerId),
  ]);
  return rows.map(({ id: chatId, owner_id: ownerId, status, snapshot_version: version, moved }) => ({
    chatId,
    ownerId,
    status,
    version: Number(version),
    markAdvance: Number(moved),
  }));
}

// The sum of `checksumOf` in domain/chats/list-events, and of how far the chats are read; a test holds them together. Below
// 2^53 up to 100,000 chats. Index: chats_owner_created_idx.
const LIST_CHECKSUMS: Statement = {
  name: "chat-list-weights",
  text: `SELECT c.owner_id, sum(
      ('x' || left(c.id::text, 8))::bit(32)::bigint
        * (array_position($2::chat_status[], c.status)
          + CASE WHEN c.archived_at IS NULL THEN 0 ELSE ${ARCHIVED_FACTOR} END)
      + c.title_version + c.diff_version + coalesce(c.last_read_message_id, 0))::text AS weight
    FROM chats c WHERE c.owner_id = ANY ($1::uuid[]) AND c.parent_chat_id IS NULL GROUP BY c.owner_id`,
};

/** The checksum of each user's list of chats; users without chats have no entry. */
export async function readListChecksums(
  db: Queryable,
  ownerIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.query<{ owner_id: string; weight: string }>(LIST_CHECKSUMS, [
    ownerIds,
    CHAT_STATUSES,
  ]);
  return new Map(rows.map(({ owner_id: ownerId, weight }) => [ownerId, Number(weight)]));
}
