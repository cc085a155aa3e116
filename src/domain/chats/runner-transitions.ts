/** Transitions of a chat's runner, whose commands carry a fence. Pure; part of the lifecycle. */
import {
  becomeIdle,
  changeHistory,
  changeStatus,
  isStale,
  nextSnapshot,
  promoteOrIdle,
  stepWrites,
  withoutRetry,
} from "./transition-helpers.js";
import type { ChatState } from "./chat-state.js";
import { CLIENT_TOOL_DEADLINE_MS } from "../common/limits.js";
import type { ChatFailure } from "../common/failures.js";
import { changed, refused, type FencedCommand, type Transition } from "./transition.js";

/** Refuses a command whose runner has lost the chat, or that was decided on an older history. */
export function decideFenced(state: ChatState, command: FencedCommand, now: number): Transition {
  if (isStale(state, command.fence)) return refused("stale_fence");
  if (command.type === "finish-interrupt") return finishInterrupt(state, command, now);
  if (state.status !== "running") return refused("wrong_status");
  switch (command.type) {
    case "begin-attempt":
      return changed(withoutRetry(nextSnapshot(state, { attempt: state.attempt + 1 })), []);
    case "record-retry":
      return recordRetry(state, command, now);
    case "commit-step":
      return commitStep(state, command);
    case "await-client":
      return awaitClient(state, command, now);
    case "finish-turn":
      return finishTurn(state, now);
    case "fail":
      return fail(state, command.failure);
    case "release":
      return release(state);
  }
}

function recordRetry(
  state: ChatState,
  command: Extract<FencedCommand, { type: "record-retry" }>,
  now: number,
): Transition {
  const moved = nextSnapshot(state);
  const retry = {
    attempt: state.attempt,
    delayMs: command.delayMs,
    retryingAt: now + command.delayMs,
    failure: command.failure,
  };
  return changed({ ...moved, retry, retryVersion: moved.snapshotVersion }, []);
}

function commitStep(state: ChatState, command: Extract<FencedCommand, { type: "commit-step" }>): Transition {
  const moved = nextSnapshot(state, command.settlesCompaction ? { compactionRequestedAt: null } : {});
  return changed(changeHistory(moved, command.openCalls), stepWrites(command));
}

function awaitClient(
  state: ChatState,
  command: Extract<FencedCommand, { type: "await-client" }>,
  now: number,
): Transition {
  if (state.openCalls.length === 0 || state.openCalls.some((call) => !call.isClient))
    return refused("open_calls");
  const { timeoutMs = CLIENT_TOOL_DEADLINE_MS } = command;
  const actionDeadlineAt = timeoutMs === null ? null : now + timeoutMs;
  return changed(changeStatus(state, "requires_action", { actionDeadlineAt }), []);
}

function finishTurn(state: ChatState, now: number): Transition {
  if (state.openCalls.length > 0) return refused("open_calls");
  return promoteOrIdle(state, null, "running", now);
}

function finishInterrupt(
  state: ChatState,
  command: Extract<FencedCommand, { type: "finish-interrupt" }>,
  now: number,
): Transition {
  if (state.status !== "interrupting") return refused("wrong_status");
  const saved = { ...state, openCalls: command.openCalls };
  const after = command.keepsQueue
    ? becomeIdle(saved, "interrupted", now)
    : promoteOrIdle(saved, "interrupted", "running", now);
  if (after.outcome !== "changed") return after;
  const stepRows = stepWrites(command);
  return changed(stepRows.length > 0 ? changeHistory(after.next) : after.next, [
    ...stepRows,
    ...after.writes,
  ]);
}

/** A requested summary that failed stays requested, for when the turn is retried. */
function fail(state: ChatState, failure: ChatFailure): Transition {
  const { compactionRequestedAt } = state;
  return changed(changeStatus(state, "error", { lastError: failure, compactionRequestedAt }), []);
}

/** Another worker continues the turn, with the summary that was requested. */
function release(state: ChatState): Transition {
  const { compactionRequestedAt } = state;
  return changed(changeStatus(state, "pending", { compactionRequestedAt }), []);
}
