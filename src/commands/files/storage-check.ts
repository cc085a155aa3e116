/** Before something is stored for a user: whether what they may store allows it. */
import type { MessagePart } from "../../domain/chats/message-parts.js";
import {
  type StorageCheck,
  storageLimitText,
  type StorageStatus,
} from "../../domain/files/storage-limits.js";
import type { Queryable } from "../../store/common/database.js";
import { listToJsonb } from "../../store/common/jsonb-text.js";
import type { CommandRefusal, CommandResult } from "../chats/chat-commands.js";
import { checkUsageLimit, type UsageLimitChecks } from "../usage/usage-limit-check.js";

/** What commands ask of the limits. */
export interface StorageChecks {
  /** Whether so many bytes more are within the user's limit. Costs no statement far from it. */
  check(userId: string, bytes: number): Promise<StorageCheck>;
  /** Throws `StorageLimitExceeded` or `StorageFull` in the transaction that stores something, which undoes it. */
  demand(transaction: Queryable, userId: string, addedBytes: number): Promise<void>;
}

/** What a command does in the transaction that stores something. */
export type Alongside = (transaction: Queryable) => Promise<void>;

/**
 * Whether the user may store so many bytes more. `verify`, when there is one, has to be the transaction's last step; what
 * it throws is for `refusalOfUndone`. `userId` is the chat's owner, whose storage it is, whoever speaks.
 */
export async function checkStorage(
  { storage }: { storage: StorageChecks },
  userId: string,
  bytes: number,
): Promise<CommandResult<{ verify: Alongside | undefined }>> {
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

/** Null when a turn may begin that nothing is said for: the owner may spend, and has room for any answer at all. */
export async function checkTurn(
  dependencies: { storage: StorageChecks; usageLimits: UsageLimitChecks },
  ownerId: string,
): Promise<CommandRefusal | null> {
  const stored = await checkStorage(dependencies, ownerId, 1);
  return stored.ok ? checkUsageLimit(dependencies, ownerId) : stored.refusal;
}

/** About as many bytes as the parts will be in the database, which spaces JSON a little wider. */
export function bytesOfParts(parts: readonly MessagePart[]): number {
  return Buffer.byteLength(listToJsonb(parts));
}

/** One after the other; undefined when there is nothing to do. */
export function inTurn(...steps: (Alongside | undefined)[]): Alongside | undefined {
  const [first, ...others] = steps.filter((step) => step !== undefined);
  if (others.length === 0) return first;
  return async (transaction) => {
    await first?.(transaction);
    for (const step of others) await step(transaction);
  };
}

/** The user stores as much as they may. */
export function storageExceeded(status: StorageStatus): CommandRefusal {
  const { usedBytes, limitBytes } = status;
  return {
    code: "LIMIT_EXCEEDED",
    message: storageLimitText(status),
    storage: { usedBytes, limitBytes: limitBytes ?? 0n },
  };
}
