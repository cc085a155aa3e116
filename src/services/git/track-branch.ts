/** A chat's git was seen at work on a branch: from now on what is known of it may be out of date. */
import {
  type BranchWork,
  findBranchWork,
  isMarkShown,
  markDiffStale,
} from "../../store/git/diff-statuses.js";
import { applyTransition, type TransitionDependencies } from "../../engine/transitions/apply-transition.js";

/** Of exactly this chat. Told to followers where they are shown something else by it. Rejects when the database does. */
export async function noteWork(
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
 * A push was seen in a repository where the chat works, which others may do, too: its children, and whoever shares the
 * folder. So it counts for a branch that is this chat's already. Over HTTP git asks for credentials, which says whose work
 * it is; over SSH nobody is asked, and what is seen is all there is to know.
 */
export async function notePush(
  dependencies: TransitionDependencies,
  chatId: string,
  work: BranchWork,
): Promise<void> {
  const known = await findBranchWork(dependencies.database, chatId);
  if (countsAsOwn(known, work)) await noteWork(dependencies, chatId, work);
}

function countsAsOwn(known: BranchWork | null, work: BranchWork): boolean {
  if (known !== null && known.remoteOrigin !== work.remoteOrigin) return false;
  const asksForCredentials = /^https?:/i.test(work.remoteOrigin);
  return asksForCredentials ? known?.branch === work.branch : true;
}
