/** Records git activity of a chat on a branch, which marks the chat's diff status stale. */
import {
  type BranchWork,
  findBranchWork,
  isMarkShown,
  markDiffStale,
} from "../../store/git/diff-statuses.js";
import { applyTransition, type TransitionDependencies } from "../../engine/transitions/apply-transition.js";

/**
 * For activity of exactly this chat. Publishes an event when the visible status changes. Rejects when the database
 * fails.
 */
export async function trackBranch(
  dependencies: TransitionDependencies,
  chatId: string,
  work: BranchWork,
): Promise<void> {
  if (work.branch === "" || work.remoteOrigin === "") return;
  if (await isMarkShown(dependencies.database, chatId, work)) {
    await markDiffStale(dependencies.database, chatId, work);
    return;
  }
  await applyTransition(dependencies, {
    chatId,
    commands: [{ type: "note-diff" }],
    alongside: (transaction) => markDiffStale(transaction, chatId, work),
  });
}

/**
 * For a push seen in a repository where the chat works. It may come from the chat's subagents or from other users of
 * the folder, so it only counts for a branch that is already this chat's. Over HTTP the request for credentials says
 * whose work it is; over SSH there is none, and the push counts.
 */
export async function trackPush(
  dependencies: TransitionDependencies,
  chatId: string,
  work: BranchWork,
): Promise<void> {
  const known = await findBranchWork(dependencies.database, chatId);
  if (countsAsOwn(known, work)) await trackBranch(dependencies, chatId, work);
}

function countsAsOwn(known: BranchWork | null, work: BranchWork): boolean {
  if (known !== null && known.remoteOrigin !== work.remoteOrigin) return false;
  const asksForCredentials = /^https?:/i.test(work.remoteOrigin);
  return asksForCredentials ? known?.branch === work.branch : true;
}
