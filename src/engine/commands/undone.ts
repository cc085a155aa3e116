/** Transactions that undid themselves on purpose, as refusals. */
import { STORAGE_FULL_TEXT } from "../../domain/storage-limits.js";
import { StorageFull, StorageLimitExceeded } from "../../store/storage.js";
import { refuseGone } from "./attachments.js";
import type { CommandRefusal } from "./chat-commands.js";
import { storageExceeded } from "./storage-check.js";

/** The refusal for a command whose transaction was undone on purpose; any other error is thrown on. */
export function refusalOfUndone(error: unknown): { ok: false; refusal: CommandRefusal } {
  if (error instanceof StorageLimitExceeded) return { ok: false, refusal: storageExceeded(error.status) };
  if (error instanceof StorageFull) {
    return { ok: false, refusal: { code: "UNAVAILABLE", message: STORAGE_FULL_TEXT, what: "storage" } };
  }
  return refuseGone(error);
}
