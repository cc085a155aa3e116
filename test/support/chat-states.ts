// Chats as the lifecycle sees them: one honest state of each status, and short words for what a transition did.
import { initialState } from "../../src/domain/chats/chat-lifecycle.js";
import type { ChatState, ChatStatus, OpenCall, UserMessage } from "../../src/domain/chats/chat-state.js";
import type { ChatFailure } from "../../src/domain/common/failures.js";
import type { MessagePart } from "../../src/domain/chats/message-parts.js";
import type { Fence, Transition, Write } from "../../src/domain/chats/transition.js";

export const NOW = 1_000_000;
export const failure: ChatFailure = { kind: "overloaded", message: "Busy.", isRetryable: true };
export const fence: Fence = { runnerId: "runner-1", historyVersion: 7 };
export const clientCall: OpenCall = { toolCallId: "c1", toolName: "ask", isClient: true, arguments: {} };
export const ourCall: OpenCall = { toolCallId: "c2", toolName: "execute", isClient: false };

export function userMessage(text: string): UserMessage {
  return {
    parts: [{ type: "text", text }],
    authorId: "ada",
    modelConfigId: null,
    reasoningEffort: null,
    mcpServerIds: null,
  };
}

/** A chat of that status at snapshot 9 whose history last changed at 7. */
export function stateOf(status: ChatStatus, changes: Partial<ChatState> = {}): ChatState {
  const isClaimed = status === "running" || status === "interrupting";
  return {
    ...initialState("A chat"),
    status,
    workerId: isClaimed ? "worker-1" : null,
    runnerId: isClaimed ? "runner-1" : null,
    snapshotVersion: 9,
    historyVersion: 7,
    queueVersion: 3,
    statusVersion: 8,
    attempt: 2,
    lastError: status === "error" ? failure : null,
    actionDeadlineAt: status === "requires_action" ? NOW : null,
    openCalls: status === "requires_action" ? [clientCall] : [],
    ...changes,
  };
}

/** `pending [q2] promote q1`: the next status, the queue, and the writes in order. Refusals and no-ops by name. */
export function wordsFor(result: Transition): string {
  if (result.outcome === "refused") return `refused ${result.reason}`;
  if (result.outcome === "unchanged") return "unchanged";
  const { status, isArchived, queuedIds } = result.next;
  const state = `${isArchived ? "archived " : ""}${status} [${queuedIds.join(" ")}]`;
  return [state, ...result.writes.map(writeWords)].join(" ");
}

function writeWords(write: Write): string {
  switch (write.type) {
    case "insert-messages":
      return write.messages.map((message) => message.role + answerWords(message.parts)).join(" ");
    case "enqueue":
    case "promote":
      return `${write.type} ${write.queuedId}`;
    case "delete-queued":
      return `delete ${write.queuedIds.join(" ")}`;
    case "delete-from":
    case "add-runtime":
      return `${write.type} ${write.messageId}`;
  }
}

/** `:cancelled`, `:interrupted`, `:late` or `:answered` behind a tool message. */
function answerWords(parts: MessagePart[]): string {
  const results = parts.filter((part) => part.type === "tool-result");
  if (results.length === 0) return "";
  const words = results.map(({ result, isError }) => {
    const text = JSON.stringify(result);
    if (!isError) return "answered";
    if (text.includes("was cancelled")) return "cancelled";
    if (text.includes("was interrupted")) return "interrupted";
    return text.includes("in time") ? "late" : text;
  });
  return `:${words.join(",")}`;
}
