/** Files and objects to delete: uploads without bytes, files in no chat, objects without a file. */
import type { Queryable, Statement } from "../common/database.js";

// Index: files_loose_idx. Several servers may sweep: who is being given to a chat right now is left alone.
const SWEEP: Statement = {
  name: "files.sweep",
  text: `DELETE FROM files WHERE id IN (
      SELECT f.id FROM files f
      WHERE f.chat_id IS NULL AND (f.created_at < $1 OR (f.created_at < $2 AND f.ready_at IS NULL))
      ORDER BY f.created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
    RETURNING id`,
};

/** How many went. Times in milliseconds since the epoch. */
export async function sweepFiles(
  db: Queryable,
  { looseBefore, unfinishedBefore, limit }: { looseBefore: number; unfinishedBefore: number; limit: number },
): Promise<number> {
  const rows = await db.query(SWEEP, [new Date(looseBefore), new Date(unfinishedBefore), limit]);
  return rows.length;
}

const EXPECT: Statement = {
  name: "objects.expect",
  text: "INSERT INTO unwanted_objects (object_key, due_at) VALUES ($1, $2)",
};

/** Written down before the object is: when no file claims it until then, it goes. */
export async function expectObject(db: Queryable, key: string, dueAt: number): Promise<void> {
  await db.query(EXPECT, [key, new Date(dueAt)]);
}

const CLAIM: Statement = {
  name: "objects.claim",
  text: "DELETE FROM unwanted_objects WHERE object_key = ANY($1::text[]) RETURNING object_key",
};

/** With the row that has it from now on, in one transaction. Throws when a sweep was first: then it is gone. */
export async function claimObjects(transaction: Queryable, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const claimed = await transaction.query(CLAIM, [keys]);
  if (claimed.length < keys.length) throw new Error("An object was swept away before its file claimed it.");
}

// Index: unwanted_objects_due_idx.
const DUE: Statement = {
  name: "objects.due",
  text: `SELECT object_key AS key FROM unwanted_objects WHERE due_at <= $1
    ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
};

/** Locks them until the transaction ends: no file can claim one that is being taken away. */
export async function lockDueObjects(transaction: Queryable, now: number, limit: number): Promise<string[]> {
  const rows = await transaction.query<{ key: string }>(DUE, [new Date(now), limit]);
  return rows.map(({ key }) => key);
}

/** They are gone from the object store. */
export async function forgetObjects(transaction: Queryable, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await transaction.query(CLAIM, [keys]);
}
