/** Transitions of user messages: send, edit, and the queue. Pure; part of the lifecycle. */
import {
  changeHistory,
  answerOpenCalls,
  insertMessages,
  changeStatus,
  nextSnapshot,
  userDraft,
  withQueue,
} from "./transition-helpers.js";
import type { ChatState } from "./chat-state.js";
import { MAX_QUEUED_MESSAGES } from "../common/limits.js";
import {
  changed,
  refused,
  unchanged,
  type Changed,
  type Command,
  type Transition,
  type Write,
} from "./transition.js";

type SendMessage = Extract<Command, { type: "send-message" }>;

/** A message sent with `interrupt` is queued behind earlier ones of its kind, and before all others. */
export function sendMessage(state: ChatState, command: SendMessage, now: number): Transition {
  const isFull = state.queuedIds.length >= MAX_QUEUED_MESSAGES;
  switch (state.status) {
    case "waiting":
    case "error":
      return startTurn(state, command, now);
    case "requires_action":
      if (command.whenBusy === "interrupt") return startTurn(state, command, now);
      return isFull ? refused("queue_full") : addToQueue(nextSnapshot(state), command);
    case "running":
      if (isFull) return refused("queue_full");
      return addToQueue(
        command.whenBusy === "queue" ? nextSnapshot(state) : changeStatus(state, "interrupting"),
        command,
      );
    case "pending":
    case "interrupting":
      return isFull ? refused("queue_full") : addToQueue(nextSnapshot(state), command);
  }
}

/** `queued` is the next state, without the message in its queue yet. */
function addToQueue(queued: ChatState, command: SendMessage): Changed {
  const [queuedIds, priorityIds] = queueIdsWith(queued, command);
  return changed(withQueue(queued, queuedIds, priorityIds), [enqueueWrite(command)]);
}

/** Starts a turn: the message enters history, or the head of the queue if one was queued before. */
function startTurn(state: ChatState, command: SendMessage, now: number): Changed {
  const [queuedIds, priorityIds] = queueIdsWith(state, command);
  const [head, ...rest] = queuedIds;
  const moved = changeHistory(changeStatus(state, "pending"));
  const fill = answerOpenCalls(state, "cancelled", now);
  if (head === undefined || head === command.queuedId)
    return changed(moved, insertMessages(fill, userDraft(command.message)));
  const promote: Write = { type: "promote", queuedId: head };
  return changed(withQueue(moved, rest, priorityIds), [
    ...insertMessages(fill),
    enqueueWrite(command),
    promote,
  ]);
}

function queueIdsWith(state: ChatState, { queuedId, whenBusy }: SendMessage): [string[], string[]] {
  const { queuedIds, priorityIds } = state;
  if (whenBusy === "queue") return [[...queuedIds, queuedId], priorityIds];
  const index = queuedIds.findLastIndex((id) => priorityIds.includes(id)) + 1;
  return [queuedIds.toSpliced(index, 0, queuedId), [...priorityIds, queuedId]];
}

function enqueueWrite({ queuedId, message }: SendMessage): Write {
  return { type: "enqueue", queuedId, message };
}

export function editMessage(
  state: ChatState,
  command: Extract<Command, { type: "edit-message" }>,
): Transition {
  const moved = changeHistory(changeStatus(state, "pending"));
  const queueWrites: Write[] =
    state.queuedIds.length === 0 ? [] : [{ type: "delete-queued", queuedIds: state.queuedIds }];
  return changed({ ...withQueue(moved, []), resetVersion: moved.snapshotVersion }, [
    { type: "delete-from", messageId: command.messageId },
    ...queueWrites,
    ...insertMessages(userDraft(command.message)),
  ]);
}

export function promoteQueued(state: ChatState, queuedId: string, now: number): Transition {
  if (!state.queuedIds.includes(queuedId)) return unchanged();
  const others = state.queuedIds.filter((id) => id !== queuedId);
  const first = (moved: ChatState) => {
    const priorityIds = [queuedId, ...state.priorityIds.filter((id) => id !== queuedId)];
    return changed(withQueue(moved, [queuedId, ...others], priorityIds), []);
  };
  switch (state.status) {
    case "running":
      return first(changeStatus(state, "interrupting"));
    case "interrupting":
    case "pending": {
      const isFirst = state.queuedIds[0] === queuedId && state.priorityIds.includes(queuedId);
      return isFirst ? unchanged() : first(nextSnapshot(state));
    }
    case "waiting":
    case "error":
    case "requires_action":
      return changed(withQueue(changeHistory(changeStatus(state, "pending")), others), [
        ...insertMessages(answerOpenCalls(state, "cancelled", now)),
        { type: "promote", queuedId },
      ]);
  }
}

export function deleteQueued(state: ChatState, queuedId: string): Transition {
  if (!state.queuedIds.includes(queuedId)) return unchanged();
  const others = state.queuedIds.filter((id) => id !== queuedId);
  return changed(withQueue(nextSnapshot(state), others), [{ type: "delete-queued", queuedIds: [queuedId] }]);
}
