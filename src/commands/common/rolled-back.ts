/** Transactions that undid themselves on purpose, as refusals. */
import { STORAGE_FULL_TEXT } from "../../domain/files/storage-limits.js";
import { StorageFull, StorageLimitExceeded } from "../../store/files/storage.js";
import { refuseGone } from "../chats/attachments.js";
import type { CommandRefusal } from "../chats/chat-commands.js";
import { storageExceeded } from "../files/storage-check.js";

/** The refusal for a command whose transaction was undone on purpose; any other error is thrown on. */
export function refusalOfUndone(error: unknown): { ok: false; refusal: CommandRefusal } {
  if (error instanceof StorageLimitExceeded) return { ok: false, refusal: storageExceeded(error.status) };
  if (error instanceof StorageFull) {
    return { ok: false, refusal: { code: "UNAVAILABLE", message: STORAGE_FULL_TEXT, what: "storage" } };
  }
  return refuseGone(error);
}
