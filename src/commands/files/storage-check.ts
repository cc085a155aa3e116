/** Checks a user's storage limit before storing anything for them. */
import type { MessagePart } from "../../domain/chats/message-parts.js";
import {
  type StorageCheck,
  storageLimitText,
  type StorageStatus,
} from "../../domain/files/storage-limits.js";
import type { Queryable } from "../../store/common/database.js";
import { listToJsonb } from "../../store/common/jsonb-text.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import { checkUsageLimit, type UsageLimitChecks } from "../usage/usage-limit-check.js";

/** The storage limit service, as commands use it. */
export interface StorageChecks {
  /** Whether that many more bytes are within the user's limit. Executes no statement far from it. */
  check(userId: string, bytes: number): Promise<StorageCheck>;
  /** Throws `StorageLimitExceeded` or `StorageFull` within the storing transaction, which rolls it back. */
  demand(transaction: Queryable, userId: string, addedBytes: number): Promise<void>;
}

/** A step of a command within its transaction. */
export type TransactionStep = (transaction: Queryable) => Promise<void>;

/**
 * Whether the user may store that many more bytes. `verify`, when defined, must be the transaction's last step; pass
 * what it throws to `refusalOfRollback`. `userId` is the chat's owner, whose storage is used also by messages of
 * admins.
 */
export async function checkStorage(
  { storage }: { storage: StorageChecks },
  userId: string,
  bytes: number,
): Promise<CommandResult<{ verify: TransactionStep | undefined }>> {
  const checked = await storage.check(userId, bytes);
  switch (checked.outcome) {
    case "exceeded":
      return { ok: false, refusal: storageExceeded(checked.status) };
    case "near":
      return { ok: true, verify: (transaction) => storage.demand(transaction, userId, 0) };
    case "fits":
      return { ok: true, verify: undefined };
  }
}

/** Null when a turn without a new message may start: the owner may spend, and can store any answer at all. */
export async function checkTurn(
  dependencies: { storage: StorageChecks; usageLimits: UsageLimitChecks },
  ownerId: string,
): Promise<CommandRefusal | null> {
  const stored = await checkStorage(dependencies, ownerId, 1);
  return stored.ok ? checkUsageLimit(dependencies, ownerId) : stored.refusal;
}

/** About the bytes of the parts in the database, which formats JSON with a little more space. */
export function bytesOfParts(parts: readonly MessagePart[]): number {
  return Buffer.byteLength(listToJsonb(parts));
}

/** Combines steps, run one after the other; undefined when there are none. */
export function sequence(...steps: (TransactionStep | undefined)[]): TransactionStep | undefined {
  const [first, ...others] = steps.filter((step) => step !== undefined);
  if (others.length === 0) return first;
  return async (transaction) => {
    await first?.(transaction);
    for (const step of others) await step(transaction);
  };
}

/** The refusal for a user at their storage limit. */
export function storageExceeded(status: StorageStatus): CommandRefusal {
  const { usedBytes, limitBytes } = status;
  return {
    code: "LIMIT_EXCEEDED",
    message: storageLimitText(status),
    storage: { usedBytes, limitBytes: limitBytes ?? 0n },
  };
}
