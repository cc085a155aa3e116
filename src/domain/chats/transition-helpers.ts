/** Building blocks of transitions: next states of a chat and the rows written with them. Pure; used by the lifecycle only. */
import type { ChatState, MessageDraft, OpenCall, UserMessage } from "./chat-state.js";
import type { MessagePart } from "./message-parts.js";
import { changed, type AddedRuntime, type Fence, type Transition, type Write } from "./transition.js";

/** The next snapshot with `changes`. */
export function nextSnapshot(state: ChatState, changes: Partial<ChatState> = {}): ChatState {
  const snapshotVersion = state.snapshotVersion + 1;
  const moved = { ...state, ...changes, snapshotVersion };
  return moved.status === state.status ? moved : { ...moved, statusVersion: snapshotVersion };
}

/** The next snapshot in another status. Clears everything that belonged to the old one. */
export function changeStatus(
  state: ChatState,
  status: ChatState["status"],
  changes: Partial<ChatState> = {},
): ChatState {
  const keepsRunner = status === "running" || status === "interrupting";
  // Nothing is streamed while a retry waits: without its notice, the failed attempt must not look live again.
  const attempt = state.retry === null ? state.attempt : state.attempt + 1;
  const moved = nextSnapshot(state, {
    status,
    attempt,
    lastError: null,
    actionDeadlineAt: null,
    compactionRequestedAt: null,
    ...(keepsRunner ? {} : { workerId: null, runnerId: null }),
    ...changes,
  });
  return withoutRetry(moved);
}

export function withoutRetry(state: ChatState): ChatState {
  return state.retry === null ? state : { ...state, retry: null, retryVersion: state.snapshotVersion };
}

/** Marks history as changed in this snapshot, which resets the attempts. */
export function changeHistory(state: ChatState, openCalls: OpenCall[] = []): ChatState {
  return withoutRetry({ ...state, historyVersion: state.snapshotVersion, attempt: 0, openCalls });
}

/** Replaces the queue in this snapshot; priorities of messages that left it are dropped. */
export function withQueue(
  state: ChatState,
  queuedIds: string[],
  priorityIds: string[] = state.priorityIds,
): ChatState {
  const waiting = priorityIds.length === 0 ? priorityIds : priorityIds.filter((id) => queuedIds.includes(id));
  return { ...state, queuedIds, priorityIds: waiting, queueVersion: state.snapshotVersion };
}

export function isIdle(state: ChatState): boolean {
  return state.status === "waiting" || state.status === "error";
}

export function isStale(state: ChatState, fence: Fence): boolean {
  return state.runnerId !== fence.runnerId || state.historyVersion !== fence.historyVersion;
}

export type SyntheticAnswer = "cancelled" | "interrupted" | "timed_out";

const SYNTHETIC_ANSWERS: Record<SyntheticAnswer, string> = {
  cancelled: "The call was cancelled before it had a result.",
  interrupted: "The call was interrupted before it had a result.",
  timed_out: "The client did not answer this call in time.",
};

/** One tool message that answers every open call with a synthetic error; null when none is open. */
export function answerOpenCalls(state: ChatState, answer: SyntheticAnswer, now: number): MessageDraft | null {
  if (state.openCalls.length === 0) return null;
  return toolDraft(
    state.openCalls.map((call) => ({
      type: "tool-result",
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      result: { error: SYNTHETIC_ANSWERS[answer] },
      isError: true,
      ...callTiming(call, now),
    })),
  );
}

/** Start and duration of an open call, for the result that ends it at `now`. */
export function callTiming(
  { startedAt }: OpenCall,
  now: number,
): { startedAt?: number; durationMs?: number } {
  return startedAt === undefined ? {} : { startedAt, durationMs: Math.max(0, now - startedAt) };
}

export function toolDraft(parts: MessagePart[]): MessageDraft {
  return { role: "tool", visibility: "both", parts };
}

export function userDraft(message: UserMessage): MessageDraft {
  return { role: "user", visibility: "both", ...message };
}

export function insertMessages(...drafts: (MessageDraft | null)[]): Write[] {
  const messages = drafts.filter((draft) => draft !== null);
  return messages.length === 0 ? [] : [{ type: "insert-messages", messages }];
}

export function stepWrites(command: { messages: MessageDraft[]; addRuntime?: AddedRuntime }): Write[] {
  const writes = insertMessages(...command.messages);
  return command.addRuntime ? [{ type: "add-runtime", ...command.addRuntime }, ...writes] : writes;
}

/** Ends the turn and leaves the queue as it is. */
export function becomeIdle(state: ChatState, answer: SyntheticAnswer | null, now: number): Transition {
  const fill = answer === null ? [] : insertMessages(answerOpenCalls(state, answer, now));
  const moved = changeStatus(state, "waiting");
  return changed(fill.length > 0 ? changeHistory(moved) : moved, fill);
}

/** Ends the turn: the head of the queue enters history, or the chat becomes idle. */
export function promoteOrIdle(
  state: ChatState,
  answer: SyntheticAnswer | null,
  ifPromoted: "pending" | "running",
  now: number,
): Transition {
  const [head, ...rest] = state.queuedIds;
  if (head === undefined || state.isArchived) return becomeIdle(state, answer, now);
  const moved =
    ifPromoted === "running" ? nextSnapshot(state, { status: "running" }) : changeStatus(state, "pending");
  return changed(withQueue(changeHistory(moved), rest), [
    ...insertMessages(answerOpenCalls(state, answer ?? "cancelled", now)),
    { type: "promote", queuedId: head },
  ]);
}
