/** What people say to a chat: a message sent or edited, and the queue of those that wait. Pure; part of the lifecycle. */
import { enterHistory, fillOpenCalls, inserts, move, next, userDraft, withQueue } from "./chat-moves.js";
import type { ChatState } from "./chat-state.js";
import { MAX_QUEUED_MESSAGES } from "./limits.js";
import { changed, refused, unchanged, type Command, type Transition, type Write } from "./transition.js";

export function sendMessage(
  state: ChatState,
  command: Extract<Command, { type: "send-message" }>,
): Transition {
  const enqueue: Write = { type: "enqueue", queuedId: command.queuedId, message: command.message };
  const joins = () => changed(withQueue(next(state), [...state.queuedIds, command.queuedId]), [enqueue]);
  const isFull = state.queuedIds.length >= MAX_QUEUED_MESSAGES;
  switch (state.status) {
    case "waiting":
    case "error": {
      const [head, ...rest] = state.queuedIds;
      if (head === undefined) {
        return changed(enterHistory(move(state, "pending")), [
          ...inserts(fillOpenCalls(state, "cancelled"), userDraft(command.message)),
        ]);
      }
      const moved = enterHistory(move(state, "pending"));
      return changed(withQueue(moved, [...rest, command.queuedId]), [
        ...inserts(fillOpenCalls(state, "cancelled")),
        enqueue,
        { type: "promote", queuedId: head },
      ]);
    }
    case "requires_action":
      if (command.whenBusy === "interrupt") {
        return changed(
          enterHistory(move(state, "pending")),
          inserts(fillOpenCalls(state, "cancelled"), userDraft(command.message)),
        );
      }
      return isFull ? refused("queue_full") : joins();
    case "running": {
      if (isFull) return refused("queue_full");
      if (command.whenBusy === "queue") return joins();
      const moved = move(state, "interrupting");
      return changed(withQueue(moved, [...state.queuedIds, command.queuedId]), [enqueue]);
    }
    case "pending":
    case "interrupting":
      return isFull ? refused("queue_full") : joins();
  }
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

export function promoteQueued(state: ChatState, queuedId: string): Transition {
  if (!state.queuedIds.includes(queuedId)) return unchanged();
  const others = state.queuedIds.filter((id) => id !== queuedId);
  switch (state.status) {
    case "running":
      return changed(withQueue(move(state, "interrupting"), [queuedId, ...others]), []);
    case "interrupting":
    case "pending":
      if (state.queuedIds[0] === queuedId) return unchanged();
      return changed(withQueue(next(state), [queuedId, ...others]), []);
    case "waiting":
    case "error":
    case "requires_action":
      return changed(withQueue(enterHistory(move(state, "pending")), others), [
        ...inserts(fillOpenCalls(state, "cancelled")),
        { type: "promote", queuedId },
      ]);
  }
}

export function deleteQueued(state: ChatState, queuedId: string): Transition {
  if (!state.queuedIds.includes(queuedId)) return unchanged();
  const others = state.queuedIds.filter((id) => id !== queuedId);
  return changed(withQueue(next(state), others), [{ type: "delete-queued", queuedIds: [queuedId] }]);
}
