/** What people may ask of chats' branches beyond what is known of them. */
import type { BranchDiff } from "./branch-facts.js";

/** How asking a host at a person's wish ended. `message` is worded for people. */
export type DiffRefresh =
  | { outcome: "refreshed" }
  /** The chat has not worked on any branch of a remote. */
  | { outcome: "no-branch" }
  | { outcome: "no-token"; host: string }
  | { outcome: "no-host" }
  | { outcome: "failed"; message: string };

export interface BranchDiffs {
  /** Asks the chat's host now. Rejects when the database does. */
  refresh(chatId: string): Promise<DiffRefresh>;
  /** The diff itself; null when it cannot be had now. */
  read(chatId: string): Promise<BranchDiff | null>;
}
