/**
 * A runner's commit while the database comes and goes. What a turn has finished (and paid for) waits until it can be
 * saved. A commit whose connection broke may have been made: that is found out before anything is said twice.
 */
import type { SavedChange } from "../../domain/chats/chat-events.js";
import { transitionAll } from "../../domain/chats/chat-lifecycle.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { DatabaseUnavailable } from "../../domain/common/outages.js";
import { sleep } from "../../lib/clock.js";
import {
  publishChange,
  applyTransition,
  type TransitionRequest,
  type TransitionResult,
} from "../transitions/apply-transition.js";
import type { RunnerDependencies } from "./runner-dependencies.js";

/** A finished step waits this long for the database, in milliseconds; then its run ends and the step is lost. */
export const OUTAGE_LIMIT_MS = 10 * 60_000;
/** Between two tries, in milliseconds: doubled with each, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

type Request = Required<Pick<TransitionRequest, "chatId" | "commands" | "known">>;

/** `shouldGiveUp`: asked before each wait; true = the run has no time for one. Rejects as `applyTransition` does. */
export async function commitThroughOutages(
  parts: RunnerDependencies,
  request: Request,
  shouldGiveUp: () => boolean,
): Promise<TransitionResult> {
  const { clock, log } = parts;
  const { chatId } = request;
  const deadline = clock.now() + OUTAGE_LIMIT_MS;
  for (
    let pauseMs = FIRST_PAUSE_MS, isDoubtful = false;
    ;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  ) {
    try {
      const result = await applyTransition(parts, request);
      return isDoubtful ? await resolveDoubt(parts, request, result) : result;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || shouldGiveUp() || clock.now() >= deadline) throw error;
      if (!isDoubtful)
        log.warn({ err: error, chatId }, "A turn waits for the database to save what it has done");
      isDoubtful = true;
      await sleep(clock, pauseMs);
    }
  }
}

/** A refusal after a commit that broke off: the change may be our own, which the refused one was to make again. */
async function resolveDoubt(
  parts: RunnerDependencies,
  { chatId, commands, known }: Request,
  result: TransitionResult,
): Promise<TransitionResult> {
  if (result.outcome !== "refused" && result.outcome !== "unchanged") return result;
  const meant = transitionAll(known.state, commands, parts.clock.now());
  const { state } = result;
  if (meant.outcome !== "changed" || !isMadeIn(state, known.state, meant.next)) return result;
  const rows = await parts.readHistory(chatId);
  const messages = rows.filter(({ revision }) => revision === meant.next.snapshotVersion);
  const previousVersion = known.state.snapshotVersion;
  const news: SavedChange = { chatId, ownerId: known.ownerId, previousVersion, state, messages: null };
  // It was never published. Readers that hold rows of their own read the new ones.
  publishChange(parts, news, []);
  parts.chatCache.forget(chatId);
  return { outcome: "changed", state, messages, queue: null };
}

/**
 * Whether `state` came from `known` by the change to `next`, perhaps with others' after it. Only the runner that holds
 * the chat moves its history on without an edit, or ends its run; each move is at a version of its own.
 */
function isMadeIn(state: ChatState, known: ChatState, next: ChatState): boolean {
  if (state.resetVersion !== known.resetVersion) return false;
  const movesHistory = next.historyVersion > known.historyVersion;
  if (movesHistory) return state.historyVersion === next.historyVersion;
  const movesStatus = next.statusVersion > known.statusVersion;
  return movesStatus && state.statusVersion === next.statusVersion && state.status === next.status;
}
