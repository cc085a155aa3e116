/**
 * State machine of a chat. `transition` alone decides what a command does to the state and to the rows of history and
 * queue. It is pure, so the store may run it under a lock or against a version. It follows the table in
 * docs/concepts/chat-lifecycle.md; the test beside this file covers every cell.
 */
import {
  changeHistory,
  answerOpenCalls,
  becomeIdle,
  insertMessages,
  isIdle,
  changeStatus,
  nextSnapshot,
  promoteOrIdle,
  callTiming,
  toolDraft,
  withoutRetry,
} from "./transition-helpers.js";
import { deleteQueued, editMessage, promoteQueued, sendMessage } from "./message-transitions.js";
import { decideFenced } from "./runner-transitions.js";
import type { ChatState, MessageDraft, TitleSource } from "./chat-state.js";
import type { ToolResultPart } from "./message-parts.js";
import {
  changed,
  refused,
  unchanged,
  type ClientResult,
  type Command,
  type Transition,
  type Write,
} from "./transition.js";

/** The state of a new chat, whose first message enters history in the same transition. */
export function initialState(
  title: string,
  titleSource: TitleSource = "first_message",
  { isSubagent = false } = {},
): ChatState {
  return {
    status: "pending",
    isArchived: false,
    isSubagent,
    workerId: null,
    runnerId: null,
    snapshotVersion: 1,
    historyVersion: 1,
    resetVersion: 0,
    queueVersion: 0,
    statusVersion: 1,
    retryVersion: 0,
    titleVersion: 0,
    diffVersion: 0,
    title,
    titleSource,
    attempt: 0,
    generationStartedAt: null,
    retry: null,
    lastError: null,
    actionDeadlineAt: null,
    compactionRequestedAt: null,
    openCalls: [],
    queuedIds: [],
    priorityIds: [],
  };
}

/** `now` is in milliseconds since the epoch. Never throws. */
export function transition(state: ChatState, command: Command, now: number): Transition {
  const decided = decide(state, command, now);
  if (decided.outcome !== "changed") return decided;
  const { historyVersion, attempt } = decided.next;
  const isSame = historyVersion === state.historyVersion && attempt === state.attempt;
  return isSame ? decided : { ...decided, next: { ...decided.next, generationStartedAt: now } };
}

function decide(state: ChatState, command: Command, now: number): Transition {
  if (state.isArchived && !isAllowedWhileArchived(state, command)) return refused("archived");
  if ("fence" in command) return decideFenced(state, command, now);
  switch (command.type) {
    case "send-message":
      return sendMessage(state, command, now);
    case "edit-message":
      return editMessage(state, command);
    case "interrupt":
      return interrupt(state, command.keepsQueue ?? false, now);
    case "promote-queued":
      return promoteQueued(state, command.queuedId, now);
    case "delete-queued":
      return deleteQueued(state, command.queuedId);
    case "request-compaction":
      return requestCompaction(state, now);
    case "retry":
      return retry(state, command);
    case "clear-context":
      return clearContext(state, command.messages, now);
    case "submit-tool-results":
      return submitToolResults(state, command.results, now);
    case "set-title":
      return setTitle(state, command);
    case "note-diff":
      return noteDiff(state);
    case "archive":
      return archive(state, now);
    case "unarchive":
      return state.isArchived ? changed(nextSnapshot(state, { isArchived: false }), []) : unchanged();
    case "acquire":
      return acquire(state, command);
    case "expire":
      return expire(state, now);
  }
}

/**
 * Several commands as one transition: one snapshot, all or nothing. A later command's fence is taken from the state that
 * the earlier ones produced, since no other transition can come between them.
 */
export function transitionAll(state: ChatState, commands: Command[], now: number): Transition {
  let current = state;
  const writes: Write[] = [];
  let hasChanged = false;
  for (const command of commands) {
    const base = { ...current, snapshotVersion: state.snapshotVersion };
    const result = transition(base, hasChanged ? withCurrentFence(command, base) : command, now);
    if (result.outcome === "refused") return result;
    if (result.outcome === "unchanged") continue;
    hasChanged = true;
    current = result.next;
    writes.push(...result.writes);
  }
  return hasChanged ? changed(current, writes) : unchanged();
}

function withCurrentFence(command: Command, state: ChatState): Command {
  if (!("fence" in command) || state.runnerId === null) return command;
  return { ...command, fence: { runnerId: state.runnerId, historyVersion: state.historyVersion } };
}

function isAllowedWhileArchived(state: ChatState, command: Command): boolean {
  switch (command.type) {
    case "unarchive":
    case "archive":
    case "set-title":
    case "note-diff":
    case "finish-interrupt":
      return true;
    // A lost worker's interrupt must still be finished after the chat was archived.
    case "acquire":
      return state.status === "interrupting";
    default:
      return false;
  }
}

function interrupt(state: ChatState, keepsQueue: boolean, now: number): Transition {
  switch (state.status) {
    case "running":
      return changed(changeStatus(state, "interrupting"), []);
    case "pending":
    case "requires_action": {
      const answer = state.status === "requires_action" ? "cancelled" : null;
      return keepsQueue ? becomeIdle(state, answer, now) : promoteOrIdle(state, answer, "pending", now);
    }
    case "waiting":
    case "error":
    case "interrupting":
      return unchanged();
  }
}

/** Counts as a change of history: the step gets all its attempts again, each a new generation. */
function retry(state: ChatState, { without }: Extract<Command, { type: "retry" }>): Transition {
  if (state.status !== "error") return refused("wrong_status");
  const { compactionRequestedAt, openCalls } = state;
  const moved = changeStatus(state, "pending", { compactionRequestedAt });
  if (without === undefined) return changed(changeHistory(moved, openCalls), []);
  if (without.historyVersion !== state.historyVersion) return refused("stale_fence");
  const rewritten = { ...changeHistory(moved), resetVersion: moved.snapshotVersion };
  return changed(rewritten, [{ type: "delete-from", messageId: without.messageId }]);
}

function requestCompaction(state: ChatState, now: number): Transition {
  if (!isIdle(state)) return refused("wrong_status");
  const fill = insertMessages(answerOpenCalls(state, "cancelled", now));
  const moved = changeStatus(state, "pending", { compactionRequestedAt: now });
  return changed(fill.length > 0 ? changeHistory(moved) : moved, fill);
}

function clearContext(state: ChatState, messages: MessageDraft[], now: number): Transition {
  if (!isIdle(state)) return refused("wrong_status");
  if (state.queuedIds.length > 0) return refused("queue_not_empty");
  return changed(
    changeHistory(changeStatus(state, "waiting")),
    insertMessages(answerOpenCalls(state, "cancelled", now), ...messages),
  );
}

function submitToolResults(state: ChatState, results: ClientResult[], now: number): Transition {
  if (state.status !== "requires_action") return refused("wrong_status");
  const byCallId = new Map(results.map((result) => [result.toolCallId, result]));
  const answers: ToolResultPart[] = [];
  for (const call of state.openCalls) {
    const answer = byCallId.get(call.toolCallId);
    if (answer)
      answers.push({ type: "tool-result", toolName: call.toolName, ...answer, ...callTiming(call, now) });
  }
  const isExact = answers.length === state.openCalls.length && results.length === answers.length;
  if (!isExact) return refused("results_mismatch");
  return changed(changeHistory(changeStatus(state, "pending")), insertMessages(toolDraft(answers)));
}

function setTitle(state: ChatState, command: Extract<Command, { type: "set-title" }>): Transition {
  const { title, source, onlyIf } = command;
  if (onlyIf && (state.title !== onlyIf.title || state.titleSource !== onlyIf.titleSource))
    return unchanged();
  if (state.title === title && state.titleSource === source) return unchanged();
  const moved = nextSnapshot(state, { title, titleSource: source });
  return changed(state.title === title ? moved : { ...moved, titleVersion: moved.snapshotVersion }, []);
}

function noteDiff(state: ChatState): Transition {
  const moved = nextSnapshot(state);
  return changed({ ...moved, diffVersion: moved.snapshotVersion }, []);
}

function archive(state: ChatState, now: number): Transition {
  if (state.isArchived) return unchanged();
  switch (state.status) {
    case "running":
      return changed(changeStatus(state, "interrupting", { isArchived: true }), []);
    case "pending":
    case "requires_action": {
      const fill =
        state.status === "requires_action" ? insertMessages(answerOpenCalls(state, "cancelled", now)) : [];
      const moved = changeStatus(state, "waiting", { isArchived: true });
      return changed(fill.length > 0 ? changeHistory(moved) : moved, fill);
    }
    case "waiting":
    case "interrupting":
    case "error":
      return changed(nextSnapshot(state, { isArchived: true }), []);
  }
}

/**
 * Claims the chat for a runner. A claim also begins the next attempt: that saves a transaction, and no delta of an
 * earlier runner can look live again. A lost interrupt keeps its attempt, because its deltas are to be saved.
 */
function acquire(state: ChatState, command: Extract<Command, { type: "acquire" }>): Transition {
  const claim = { workerId: command.workerId, runnerId: command.runnerId };
  const begun = { ...claim, status: "running" as const, attempt: state.attempt + 1 };
  switch (state.status) {
    case "pending":
      return changed(nextSnapshot(state, begun), []);
    case "running":
      return command.isLeaseDead
        ? changed(withoutRetry(nextSnapshot(state, begun)), [])
        : refused("lease_alive");
    case "interrupting":
      return command.isLeaseDead ? changed(nextSnapshot(state, claim), []) : refused("lease_alive");
    case "waiting":
    case "requires_action":
    case "error":
      return refused("wrong_status");
  }
}

function expire(state: ChatState, now: number): Transition {
  if (state.status !== "requires_action") return refused("wrong_status");
  if (state.actionDeadlineAt === null || now < state.actionDeadlineAt) return refused("deadline_not_reached");
  return changed(
    changeHistory(changeStatus(state, "pending")),
    insertMessages(answerOpenCalls(state, "timed_out", now)),
  );
}
