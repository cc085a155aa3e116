/** One poll of a chat's branch: asks the git host, saves the result, and publishes a change to subscribers. */
import { haveSameFacts } from "../../domain/git/branch-facts.js";
import { failureOf, type PollOutcome, nextPollDelayMs } from "../../domain/git/diff-status.js";
import { type ClaimedPoll, finishPoll } from "../../store/git/diff-statuses.js";
import { applyTransition, type TransitionDependencies } from "../../engine/transitions/apply-transition.js";
import { type AccountChoice, type GitAccountDependencies, chooseAccount } from "./git-accounts.js";

export type DiffPollDependencies = TransitionDependencies & GitAccountDependencies;

/** Rolls back the transaction: the poll was claimed again, or the chat has moved to another branch. */
class StalePoll extends Error {}

/** Rejects when the database fails. */
export function accountOf(dependencies: DiffPollDependencies, poll: ClaimedPoll): Promise<AccountChoice> {
  return chooseAccount(dependencies, poll);
}

/** Never rejects for a failure of the host. */
export async function pollBranch(
  dependencies: Pick<DiffPollDependencies, "hosts">,
  choice: AccountChoice,
  poll: Pick<ClaimedPoll, "branch" | "facts">,
): Promise<PollOutcome> {
  if (choice.kind !== "account") return choice;
  const pullRequest = poll.facts?.pullRequest?.number ?? null;
  const work = { path: choice.path, branch: poll.branch, pullRequest };
  const answer = await dependencies.hosts.factsOf(choice.account, work);
  return answer.ok ? { kind: "seen", facts: answer.value } : { kind: "failed", failure: answer.failure };
}

/** False when the claim was lost meanwhile, so that nothing was saved. Rejects when the database fails. */
export async function savePoll(
  dependencies: DiffPollDependencies,
  poll: ClaimedPoll,
  outcome: PollOutcome,
): Promise<boolean> {
  const facts = outcome.kind === "seen" ? outcome.facts : null;
  const result = {
    facts,
    failure: failureOf(outcome),
    nextInMs: nextPollDelayMs(outcome, poll.sinceMarkedMs, dependencies.clock.now()),
  };
  if (!hasChanged(poll, outcome)) return finishPoll(dependencies.database, poll, result);
  try {
    await applyTransition(dependencies, {
      chatId: poll.chatId,
      commands: [{ type: "note-diff" }],
      async alongside(transaction) {
        if (!(await finishPoll(transaction, poll, result))) throw new StalePoll();
      },
    });
    return true;
  } catch (error) {
    if (error instanceof StalePoll) return false;
    throw error;
  }
}

/** Whether the result changes what users see. */
function hasChanged(poll: ClaimedPoll, outcome: PollOutcome): boolean {
  if (outcome.kind !== "seen") return !poll.isStale;
  return poll.isStale || !haveSameFacts(poll.facts, outcome.facts);
}
