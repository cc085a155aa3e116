/** Storage limits of users: which limit applies, when it is reached, and the texts for it. Pure. */
import type { ChatFailure } from "../common/failures.js";
import type { LimitSource } from "../usage/usage-limits.js";

/** A user's storage use (messages, queued messages and files of their chats, and files in no chat yet) and limit. */
export type StorageStatus = {
  /** Where the limit comes from. */
  source: LimitSource;
  usedBytes: bigint;
  /** Null = no limit. */
  limitBytes: bigint | null;
};

/** `near`: it fits now, but must be checked again in the transaction that stores it. */
export type StorageCheck =
  { outcome: "fits" } | { outcome: "near" } | { outcome: "exceeded"; status: StorageStatus };

/** A user's own limit as stored; undefined = the deployment's applies, null = unlimited. */
export type OwnStorageLimit = bigint | null | undefined;

/** The limit that applies to a user. `defaultBytes` null = unlimited for users without their own. */
export function effectiveStorageLimit(
  defaultBytes: bigint | null,
  own: OwnStorageLimit,
): Pick<StorageStatus, "source" | "limitBytes"> {
  if (own !== undefined) return { source: "user", limitBytes: own };
  return { source: defaultBytes === null ? "none" : "deployment", limitBytes: defaultBytes };
}

/** Whether `bytes` more fit within the limit. */
export function fitsStorage({ usedBytes, limitBytes }: StorageStatus, bytes: number): boolean {
  return limitBytes === null || usedBytes + BigInt(bytes) <= limitBytes;
}

/** Whether nothing more may be stored. */
export function isStorageFull(status: StorageStatus): boolean {
  return !fitsStorage(status, 1);
}

/** Worded for the user. */
export function storageLimitText({ usedBytes, limitBytes }: StorageStatus): string {
  return (
    `There is not enough space within the storage limit of ${formatBytes(limitBytes ?? 0n)}: ${formatBytes(usedBytes)} are in use by ` +
    "messages, queued messages and files. Delete queued messages, or ask an administrator for more."
  );
}

/** The failure that ends a turn before its next model call. Earlier steps stay stored. */
export function storageLimitFailure(status: StorageStatus): ChatFailure {
  return { kind: "storage_limit", message: storageLimitText(status), isRetryable: false };
}

/** Shown when the server's disk, rather than a user's limit, is full. */
export const STORAGE_FULL_TEXT =
  "The server's disk is almost full, so nothing new can be stored. Everything that exists can still be read. " +
  "The server's administrator has to free disk space.";

/** The failure that ends a turn before its next model call while the disk is almost full. */
export const STORAGE_FULL_FAILURE: ChatFailure = {
  kind: "storage_full",
  message: STORAGE_FULL_TEXT,
  isRetryable: true,
};

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** Formats bytes in the largest fitting unit, with at most one decimal. */
export function formatBytes(bytes: bigint): string {
  let amount = Number(bytes);
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return amount === 1 && unit === 0 ? "1 byte" : `${Number(amount.toFixed(1))} ${UNITS[unit]}`;
}
