/** Idle chats, and the lock of the replica that archives them. */
import type { Queryable, Statement } from "../common/database.js";

/** Advisory lock of the replica that archives; any fixed number does. */
const AUTO_ARCHIVE_LOCK = 7_276_005;

const TRY_LOCK: Statement = {
  name: "auto-archive-try-lock",
  text: "SELECT pg_try_advisory_xact_lock($1) AS locked",
};

/** False when another replica archives now. Locks until the transaction ends. */
export async function tryAutoArchiveLock(transaction: Queryable): Promise<boolean> {
  const [row] = await transaction.query<{ locked: boolean }>(TRY_LOCK, [AUTO_ARCHIVE_LOCK]);
  return row?.locked ?? false;
}

// No index: an hourly scan of all chats costs less than an index that every transition maintains.
const IDLE: Statement = {
  name: "chats-idle",
  text: `SELECT id, snapshot_version FROM chats
    WHERE archived_at IS NULL AND status IN ('waiting', 'error') AND updated_at < $1 AND id <> ALL ($2::uuid[])
      AND parent_chat_id IS NULL AND NOT EXISTS (
        SELECT 1 FROM chats m WHERE m.root_chat_id = chats.id
          AND (m.updated_at >= $1 OR m.status NOT IN ('waiting', 'error')))
    ORDER BY updated_at, id LIMIT $3`,
};

/** An idle chat, at the version at which it was found. */
export type IdleChat = { chatId: string; version: number };

/**
 * Up to `limit` chats at rest that last changed before `before` (milliseconds), their subagents too, but for
 * `skipped`; oldest first. Subagents are archived with the chat that they belong to.
 */
export async function findIdleChats(
  queryable: Queryable,
  { before, skipped, limit }: { before: number; skipped: readonly string[]; limit: number },
): Promise<IdleChat[]> {
  type Row = { id: string; snapshot_version: string };
  const rows = await queryable.query<Row>(IDLE, [new Date(before), skipped, limit]);
  return rows.map((row) => ({ chatId: row.id, version: Number(row.snapshot_version) }));
}
