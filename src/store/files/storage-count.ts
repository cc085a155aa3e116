/** The count of chats that are older than `chat_storage`, one chat in one short transaction. */
import type { Database, Queryable, Statement } from "../common/database.js";
import { lockChat } from "../chats/transitions.js";

// Replicas pass over a step that another one is taking.
const CLAIM: Statement = {
  name: "storage-count.claim",
  text: "SELECT counted_to FROM storage_count WHERE NOT is_done FOR UPDATE SKIP LOCKED",
};

// Indexes: chats_pkey, chat_storage_pkey.
const NEXT: Statement = {
  name: "storage-count.next",
  text: `SELECT c.id FROM chats c
    WHERE c.id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
      AND NOT EXISTS (SELECT 1 FROM chat_storage s WHERE s.chat_id = c.id)
    ORDER BY c.id LIMIT 1`,
};

const IS_DONE: Statement = { name: "storage-count.is-done", text: "SELECT is_done FROM storage_count" };

// Indexes: chat_messages_revision_idx, chat_queued_messages_chat_idx, files_chat_idx.
const COUNT: Statement = {
  name: "storage-count.count",
  text: `INSERT INTO chat_storage (chat_id, owner_id, bytes)
    SELECT c.id, c.owner_id, stored_bytes(c.client_tools)
      + (SELECT coalesce(sum(stored_bytes(m.content)), 0) FROM chat_messages m WHERE m.chat_id = c.id)
      + (SELECT coalesce(sum(stored_bytes(q.content)), 0) FROM chat_queued_messages q WHERE q.chat_id = c.id)
      + (SELECT coalesce(sum(f.size_bytes), 0) FROM files f WHERE f.chat_id = c.id)
    FROM chats c WHERE c.id = $1 ON CONFLICT DO NOTHING`,
};

const ADVANCE: Statement = {
  name: "storage-count.advance",
  text: "UPDATE storage_count SET counted_to = coalesce($1, counted_to), is_done = $1::uuid IS NULL",
};

/** `counted`: there may be more. `busy`: another replica is at it. */
export type CountStep = "counted" | "busy" | "done";

/**
 * Counts the next chat. Its row is locked meanwhile, so whatever is written to it is either seen by the sum or counted
 * by the triggers, which wait for the row that this makes; never both.
 */
export async function countNextChat(database: Database): Promise<CountStep> {
  return database.transaction(async (transaction) => {
    const [claimed] = await transaction.query<{ counted_to: string | null }>(CLAIM, []);
    if (!claimed) return (await isDone(transaction)) ? "done" : "busy";
    const [next] = await transaction.query<{ id: string }>(NEXT, [claimed.counted_to]);
    // In this order, because no transaction that has locked a chat waits for the step.
    if (next && (await lockChat(transaction, next.id))) await transaction.query(COUNT, [next.id]);
    await transaction.query(ADVANCE, [next?.id ?? null]);
    return next ? "counted" : "done";
  });
}

async function isDone(transaction: Queryable): Promise<boolean> {
  const [row] = await transaction.query<{ is_done: boolean }>(IS_DONE, []);
  return row?.is_done ?? true;
}
