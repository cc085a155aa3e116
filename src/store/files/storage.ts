/** The bytes that users store, and their limits. Triggers update the sums; see migrations/0026-storage.ts. */
import {
  effectiveStorageLimit,
  fitsStorage,
  type OwnStorageLimit,
  STORAGE_FULL_TEXT,
  type StorageStatus,
} from "../../domain/files/storage-limits.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { StorageLimitOverrideEntity } from "./storage-limit-override.entity.js";

const own = selectionOf(StorageLimitOverrideEntity, "o", ["limitBytes"]);

/** One user's own limit; `limitBytes` null = no limit. */
export type StorageLimitOverride = ReturnType<(typeof own)["read"]>;

// Indexes: chat_storage_owner_idx, files_loose_owner_idx, storage_limit_overrides_pkey.
const STATUS: Statement = {
  name: "storage.status",
  text: `SELECT u.id AS user_id, o.user_id IS NOT NULL AS has_own, ${own.columns},
      ((SELECT coalesce(sum(s.bytes), 0) FROM chat_storage s WHERE s.owner_id = u.id)
        + (SELECT coalesce(sum(f.size_bytes), 0) FROM files f WHERE f.owner_id = u.id AND f.chat_id IS NULL)
      )::bigint AS used_bytes
    FROM unnest($1::uuid[]) AS u (id) LEFT JOIN storage_limit_overrides o ON o.user_id = u.id`,
};

type StatusDbRow = Selected<StorageLimitOverride> & { user_id: string; has_own: boolean; used_bytes: string };

/** What a user stores, and a limit of their own. */
export type StoredUsage = { usedBytes: bigint; own: OwnStorageLimit };

/** Exact as of now; every user asked for has an entry. */
export async function readStoredUsages(
  db: Queryable,
  userIds: readonly string[],
): Promise<Map<string, StoredUsage>> {
  const rows = await db.query<StatusDbRow>(STATUS, [userIds]);
  return new Map(
    rows.map((row) => [
      row.user_id,
      { usedBytes: BigInt(row.used_bytes), own: row.has_own ? own.read(row).limitBytes : undefined },
    ]),
  );
}

/** The same of one user, with the limit that counts; `defaultBytes` null = no limit by default. */
export async function readStorageStatus(
  db: Queryable,
  userId: string,
  defaultBytes: bigint | null,
): Promise<StorageStatus> {
  const usage = (await readStoredUsages(db, [userId])).get(userId);
  if (!usage) throw new Error("What a user stores has no row.");
  return { ...effectiveStorageLimit(defaultBytes, usage.own), usedBytes: usage.usedBytes };
}

/** With a user's own number it serialises what is stored for that user near their limit; any fixed number does. */
const STORAGE_LOCK = 7_276_026;

// One bit pattern for each user; those who share one only wait for each other. Taken after a chat's lock, never before.
const LOCK: Statement = {
  name: "storage.lock",
  text: "SELECT pg_advisory_xact_lock($1::int, hashtext($2))",
};

/** More than a user may store was about to be stored; the transaction must be undone. */
export class StorageLimitExceeded extends Error {
  override readonly name = "StorageLimitExceeded";

  constructor(readonly status: StorageStatus) {
    super("The storage limit of a user is reached.");
  }
}

/** The server's disk is almost full; the transaction must be undone. */
export class StorageFull extends Error {
  override readonly name = "StorageFull";

  constructor() {
    super(STORAGE_FULL_TEXT);
  }
}

/**
 * Throws `StorageLimitExceeded` unless `addedBytes` more than what is stored now, this transaction's own writes
 * included, are within the user's limit. Until the transaction ends no other one gets beyond this point for the same
 * user, on any replica: together they never exceed the limit.
 */
export async function demandStorage(
  transaction: Queryable,
  { userId, defaultBytes, addedBytes }: { userId: string; defaultBytes: bigint | null; addedBytes: number },
): Promise<void> {
  await transaction.query(LOCK, [STORAGE_LOCK, userId]);
  // A statement of its own: it sees what was committed while the lock was waited for.
  const status = await readStorageStatus(transaction, userId, defaultBytes);
  if (!fitsStorage(status, addedBytes)) throw new StorageLimitExceeded(status);
}

// Index: storage_limit_overrides_pkey.
const LOCK_OVERRIDE: Statement = {
  name: "storage.lock-override",
  text: `SELECT ${own.columns} FROM storage_limit_overrides o WHERE o.user_id = $1 FOR UPDATE`,
};

/** Null when the user has no limit of their own. */
export async function lockStorageLimitOverride(
  transaction: Queryable,
  userId: string,
): Promise<StorageLimitOverride | null> {
  const [row] = await transaction.query<Selected<StorageLimitOverride>>(LOCK_OVERRIDE, [userId]);
  return row ? own.read(row) : null;
}

const SET_OVERRIDE: Statement = {
  name: "storage.set-override",
  text: `INSERT INTO storage_limit_overrides (user_id, limit_bytes) VALUES ($1, $2)
    ON CONFLICT (user_id) DO UPDATE SET limit_bytes = excluded.limit_bytes, updated_at = now()`,
};

/** The user must exist. */
export async function setStorageLimitOverride(
  transaction: Queryable,
  userId: string,
  { limitBytes }: StorageLimitOverride,
): Promise<void> {
  await transaction.query(SET_OVERRIDE, [userId, limitBytes?.toString() ?? null]);
}

const CLEAR_OVERRIDE: Statement = {
  name: "storage.clear-override",
  text: "DELETE FROM storage_limit_overrides WHERE user_id = $1",
};

export async function clearStorageLimitOverride(transaction: Queryable, userId: string): Promise<void> {
  await transaction.query(CLEAR_OVERRIDE, [userId]);
}
