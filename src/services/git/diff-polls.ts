/** One look at a chat's branch: the host is asked, what it says is saved, and followers are told what has changed. */
import { haveSameFacts } from "../../domain/git/branch-facts.js";
import { failureOf, type PollOutcome, nextPollDelayMs } from "../../domain/git/diff-status.js";
import { type ClaimedLook, finishLook } from "../../store/git/diff-statuses.js";
import { applyTransition, type TransitionDependencies } from "../../engine/transitions/apply-transition.js";
import { type AccountChoice, type OauthAccountDependencies, chooseAccount } from "./git-accounts.js";

export type DiffPollDependencies = TransitionDependencies & OauthAccountDependencies;

/** Thrown to undo: somebody claimed the look anew, or the chat went on to another branch. */
class VoidLook extends Error {}

/** Rejects when the database does. */
export function accountOf(dependencies: DiffPollDependencies, look: ClaimedLook): Promise<AccountChoice> {
  return chooseAccount(dependencies, look);
}

/** Never rejects for what the host does. */
export async function lookAt(
  dependencies: Pick<DiffPollDependencies, "hosts">,
  choice: AccountChoice,
  look: Pick<ClaimedLook, "branch" | "facts">,
): Promise<PollOutcome> {
  if (choice.kind !== "account") return choice;
  const pullRequest = look.facts?.pullRequest?.number ?? null;
  const work = { path: choice.path, branch: look.branch, pullRequest };
  const answer = await dependencies.hosts.factsOf(choice.account, work);
  return answer.ok ? { kind: "seen", facts: answer.value } : { kind: "failed", failure: answer.failure };
}

/** False when the look was void by then, so that nothing was saved. Rejects when the database does. */
export async function settleLook(
  dependencies: DiffPollDependencies,
  look: ClaimedLook,
  outcome: PollOutcome,
): Promise<boolean> {
  const facts = outcome.kind === "seen" ? outcome.facts : null;
  const came = {
    facts,
    failure: failureOf(outcome),
    nextInMs: nextPollDelayMs(outcome, look.sinceMarkedMs, dependencies.clock.now()),
  };
  if (!isNews(look, outcome)) return finishLook(dependencies.database, look, came);
  try {
    await applyTransition(dependencies, {
      chatId: look.chatId,
      commands: [{ type: "note-diff" }],
      async alongside(transaction) {
        if (!(await finishLook(transaction, look, came))) throw new VoidLook();
      },
    });
    return true;
  } catch (error) {
    if (error instanceof VoidLook) return false;
    throw error;
  }
}

/** Whether people are shown something else by it than before. */
function isNews(look: ClaimedLook, outcome: PollOutcome): boolean {
  if (outcome.kind !== "seen") return !look.isStale;
  return look.isStale || !haveSameFacts(look.facts, outcome.facts);
}
