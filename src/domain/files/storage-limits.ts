/** What users may store: whose limit counts, when it is reached, and the words for it. Pure. */
import type { ChatFailure } from "../common/failures.js";
import type { LimitSource } from "../usage/usage-limits.js";

/** What a user stores at a moment: messages, queued messages and files of their chats, and files in no chat yet. */
export type StorageStatus = {
  /** Whose limit it is. */
  source: LimitSource;
  usedBytes: bigint;
  /** Null = no limit. */
  limitBytes: bigint | null;
};

/** `near`: it fits now, and must be checked once more in the transaction that stores it. */
export type StorageCheck =
  { outcome: "fits" } | { outcome: "near" } | { outcome: "exceeded"; status: StorageStatus };

/** Own limits as they are stored; undefined = none of their own, null = none at all. */
export type OwnStorageLimit = bigint | null | undefined;

/** The greatest amount that the database keeps. */
export const GREATEST_STORAGE_BYTES = 2n ** 63n - 1n;

/** `defaultBytes` null = users without a limit of their own have none. */
export function effectiveStorageLimit(
  defaultBytes: bigint | null,
  own: OwnStorageLimit,
): Pick<StorageStatus, "source" | "limitBytes"> {
  if (own !== undefined) return { source: "user", limitBytes: own };
  return { source: defaultBytes === null ? "none" : "deployment", limitBytes: defaultBytes };
}

/** Whether so many bytes more are within the limit, to the byte. */
export function fitsStorage({ usedBytes, limitBytes }: StorageStatus, bytes: number): boolean {
  return limitBytes === null || usedBytes + BigInt(bytes) <= limitBytes;
}

/** Whether nothing more may be stored. */
export function isStorageFull(status: StorageStatus): boolean {
  return !fitsStorage(status, 1);
}

/** For the user. */
export function storageLimitText({ usedBytes, limitBytes }: StorageStatus): string {
  return (
    `There is not enough room within the storage limit of ${shownBytes(limitBytes ?? 0n)}: ${shownBytes(usedBytes)} are in use by ` +
    "messages, queued messages and files. Delete queued messages, or ask an administrator for more."
  );
}

/** What ends a turn before its next model call. What was answered and done before is stored. */
export function storageLimitFailure(status: StorageStatus): ChatFailure {
  return { kind: "storage_limit", message: storageLimitText(status), isRetryable: false };
}

/** The operator's disk, not a user's limit, keeps anything more from being stored. */
export const STORAGE_FULL_TEXT =
  "The server's disk is almost full, so nothing new can be stored. Everything that exists can still be read. " +
  "The server's administrator has to free disk space.";

/** What ends a turn before its next model call while the disk is almost full. */
export const STORAGE_FULL_FAILURE: ChatFailure = {
  kind: "storage_full",
  message: STORAGE_FULL_TEXT,
  isRetryable: true,
};

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** With at most one decimal, in the greatest unit of which there is one. */
export function shownBytes(bytes: bigint): string {
  let amount = Number(bytes);
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return amount === 1 && unit === 0 ? "1 byte" : `${Number(amount.toFixed(1))} ${UNITS[unit]}`;
}
