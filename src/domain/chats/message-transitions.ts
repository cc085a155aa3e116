/** What people say to a chat: a message sent or edited, and the queue of those that wait. Pure; part of the lifecycle. */
import {
  enterHistory,
  fillOpenCalls,
  inserts,
  move,
  next,
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

/** A message sent with `interrupt` waits behind earlier ones of its kind, and before all others. */
export function sendMessage(state: ChatState, command: SendMessage, now: number): Transition {
  const isFull = state.queuedIds.length >= MAX_QUEUED_MESSAGES;
  switch (state.status) {
    case "waiting":
    case "error":
      return speakNext(state, command, now);
    case "requires_action":
      if (command.whenBusy === "interrupt") return speakNext(state, command, now);
      return isFull ? refused("queue_full") : join(next(state), command);
    case "running":
      if (isFull) return refused("queue_full");
      return join(command.whenBusy === "queue" ? next(state) : move(state, "interrupting"), command);
    case "pending":
    case "interrupting":
      return isFull ? refused("queue_full") : join(next(state), command);
  }
}

/** `moved` with the message in its queue. */
function join(moved: ChatState, command: SendMessage): Changed {
  const [queuedIds, priorityIds] = queueWith(moved, command);
  return changed(withQueue(moved, queuedIds, priorityIds), [enqueue(command)]);
}

/** No turn runs: the message enters history, or the head of the queue does if it was there first. */
function speakNext(state: ChatState, command: SendMessage, now: number): Changed {
  const [queuedIds, priorityIds] = queueWith(state, command);
  const [head, ...rest] = queuedIds;
  const moved = enterHistory(move(state, "pending"));
  const fill = fillOpenCalls(state, "cancelled", now);
  if (head === undefined || head === command.queuedId)
    return changed(moved, inserts(fill, userDraft(command.message)));
  const promote: Write = { type: "promote", queuedId: head };
  return changed(withQueue(moved, rest, priorityIds), [...inserts(fill), enqueue(command), promote]);
}

function queueWith(state: ChatState, { queuedId, whenBusy }: SendMessage): [string[], string[]] {
  const { queuedIds, priorityIds } = state;
  if (whenBusy === "queue") return [[...queuedIds, queuedId], priorityIds];
  const place = queuedIds.findLastIndex((id) => priorityIds.includes(id)) + 1;
  return [queuedIds.toSpliced(place, 0, queuedId), [...priorityIds, queuedId]];
}

function enqueue({ queuedId, message }: SendMessage): Write {
  return { type: "enqueue", queuedId, message };
}

export function editMessage(
  state: ChatState,
  command: Extract<Command, { type: "edit-message" }>,
): Transition {
  const moved = enterHistory(move(state, "pending"));
  const queueWrites: Write[] =
    state.queuedIds.length === 0 ? [] : [{ type: "delete-queued", queuedIds: state.queuedIds }];
  return changed({ ...withQueue(moved, []), resetVersion: moved.snapshotVersion }, [
    { type: "delete-from", messageId: command.messageId },
    ...queueWrites,
    ...inserts(userDraft(command.message)),
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
      return first(move(state, "interrupting"));
    case "interrupting":
    case "pending": {
      const isFirst = state.queuedIds[0] === queuedId && state.priorityIds.includes(queuedId);
      return isFirst ? unchanged() : first(next(state));
    }
    case "waiting":
    case "error":
    case "requires_action":
      return changed(withQueue(enterHistory(move(state, "pending")), others), [
        ...inserts(fillOpenCalls(state, "cancelled", now)),
        { type: "promote", queuedId },
      ]);
  }
}

export function deleteQueued(state: ChatState, queuedId: string): Transition {
  if (!state.queuedIds.includes(queuedId)) return unchanged();
  const others = state.queuedIds.filter((id) => id !== queuedId);
  return changed(withQueue(next(state), others), [{ type: "delete-queued", queuedIds: [queuedId] }]);
}
