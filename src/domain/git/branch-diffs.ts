/** Port for on-demand requests about chats' branches. */
import type { BranchDiff } from "./branch-facts.js";

/** Outcome of a refresh that a user requested. `message` is worded for users. */
export type DiffRefresh =
  | { outcome: "refreshed" }
  /** The chat has not worked on any branch of a remote. */
  | { outcome: "no-branch" }
  | { outcome: "no-token"; host: string }
  | { outcome: "no-host" }
  | { outcome: "failed"; message: string };

export interface BranchDiffs {
  /** Polls the chat's host now. Rejects when the database does. */
  refresh(chatId: string): Promise<DiffRefresh>;
  /** The diff; null when it is unavailable now. */
  read(chatId: string): Promise<BranchDiff | null>;
}
