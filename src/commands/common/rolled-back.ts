/** Refusals for transactions that were rolled back on purpose. */
import { STORAGE_FULL_TEXT } from "../../domain/files/storage-limits.js";
import { StorageFull, StorageLimitExceeded } from "../../store/files/storage.js";
import { refusalOfMissingFile } from "../chats/attachments.js";
import type { CommandRefusal } from "./command-result.js";
import { storageExceeded } from "../files/storage-check.js";

/** The refusal for a command whose transaction was rolled back on purpose; rethrows any other error. */
export function refusalOfRollback(error: unknown): { ok: false; refusal: CommandRefusal } {
  if (error instanceof StorageLimitExceeded) return { ok: false, refusal: storageExceeded(error.status) };
  if (error instanceof StorageFull) {
    return { ok: false, refusal: { code: "UNAVAILABLE", message: STORAGE_FULL_TEXT, what: "storage" } };
  }
  return refusalOfMissingFile(error);
}
