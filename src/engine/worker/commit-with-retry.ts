/**
 * A runner's commit that survives database outages: a finished (and paid) step waits until it can be saved. A commit
 * whose connection broke may have succeeded; that is resolved before anything is written or published twice.
 */
import type { SavedChange } from "../../domain/chats/chat-events.js";
import { transitionAll } from "../../domain/chats/chat-lifecycle.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { DatabaseUnavailable } from "../../domain/common/outages.js";
import { sleep } from "../../lib/clock.js";
import {
  applyTransition,
  publishChange,
  type TransitionRequest,
  type TransitionResult,
} from "../transitions/apply-transition.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

/** How long a finished step waits for the database, in milliseconds; after that its run ends and the step is lost. */
const OUTAGE_LIMIT_MS = 10 * 60_000;
/** Pause between two tries, in milliseconds; doubled with each, up to the maximum. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

type Request = Required<Pick<TransitionRequest, "chatId" | "commands" | "known">>;
type CommitDependencies = Pick<
  RunnerDependencies,
  "bus" | "chatCache" | "clock" | "database" | "log" | "onChatPending" | "store"
>;

/** `shouldGiveUp` is called before each wait; true = the run has no time for one. Rejects as `applyTransition` does. */
export async function commitThroughOutages(
  dependencies: CommitDependencies,
  request: Request,
  shouldGiveUp: () => boolean,
): Promise<TransitionResult> {
  const { clock, log } = dependencies;
  const { chatId } = request;
  const deadline = clock.now() + OUTAGE_LIMIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS, isDoubtful = false; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      const result = await applyTransition(dependencies, request);
      return isDoubtful ? await resolveDoubt(dependencies, request, result) : result;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || shouldGiveUp() || clock.now() >= deadline) throw error;
      if (!isDoubtful) log.warn({ err: error, chatId }, "database unavailable; commit is retried");
      isDoubtful = true;
      await sleep(clock, pauseMs);
    }
  }
}

/** A refusal after a broken commit may be caused by that commit: the change is then our own, made by the first try. */
async function resolveDoubt(
  dependencies: CommitDependencies,
  { chatId, commands, known }: Request,
  result: TransitionResult,
): Promise<TransitionResult> {
  if (result.outcome !== "refused" && result.outcome !== "unchanged") return result;
  const intended = transitionAll(known.state, commands, dependencies.clock.now());
  const { state } = result;
  if (intended.outcome !== "changed" || !includesChange(state, known.state, intended.next)) return result;
  const rows = await dependencies.store.readHistory(chatId);
  const messages = rows.filter(({ revision }) => revision === intended.next.snapshotVersion);
  const previousVersion = known.state.snapshotVersion;
  const change: SavedChange = { chatId, ownerId: known.ownerId, previousVersion, state, messages: null };
  // It was never published. Without rows in it, readers read the new ones from the database.
  publishChange(dependencies, change, []);
  dependencies.chatCache.delete(chatId);
  return { outcome: "changed", state, messages, queue: null };
}

/**
 * Whether `state` came from `known` by the change to `next`, perhaps with others' changes after it. Only the chat's
 * runner advances its history without an edit, or ends its run; each of these is at a version of its own.
 */
function includesChange(state: ChatState, known: ChatState, next: ChatState): boolean {
  if (state.resetVersion !== known.resetVersion) return false;
  const advancesHistory = next.historyVersion > known.historyVersion;
  if (advancesHistory) return state.historyVersion === next.historyVersion;
  const changesStatus = next.statusVersion > known.statusVersion;
  return changesStatus && state.statusVersion === next.statusVersion && state.status === next.status;
}
