/** What is known of the branches that chats work on, and when that stopped being sure. */
import type { Queryable, Statement } from "./database.js";

const MARK_STALE: Statement = {
  name: "diff-statuses.mark-stale",
  text: `
    INSERT INTO chat_diff_statuses (chat_id, git_branch, git_remote_origin, stale_at)
    VALUES ($1, $2, $3, now() - interval '1 second')
    ON CONFLICT (chat_id) DO UPDATE SET git_branch = excluded.git_branch,
      git_remote_origin = excluded.git_remote_origin, stale_at = excluded.stale_at`,
};

/** This chat's git has spoken with a host; of other chats in the same workspace that says nothing. */
export async function markDiffStale(
  db: Queryable,
  chatId: string,
  work: { branch: string; remoteOrigin: string },
): Promise<void> {
  await db.query(MARK_STALE, [chatId, work.branch, work.remoteOrigin]);
}
