/** The next action of a turn, decided from committed history alone, so that any worker can continue after a crash. */
import type { ChatState } from "./chat-state.js";
import {
  canSummarize,
  compactionsInTurn,
  contextUse,
  MAX_COMPACTIONS_PER_TURN,
  type CompactionSource,
} from "./compaction.js";
import { isDeeperThan, MAX_ARGUMENT_DEPTH } from "../common/json-depth.js";
import { COMPACTION_OFF_PERCENT, isOverThreshold } from "../models/context-window.js";
import type { MessagePart, MessageRole, TokenUsage, ToolCallPart, ToolResultPart } from "./message-parts.js";

/** The fields of a message that the decision reads. `id` is the store's. */
export type HistoryMessage = {
  id: string;
  role: MessageRole;
  parts: MessagePart[];
  isSummary: boolean;
  usage?: TokenUsage | null;
};

/** Limits of a turn. */
export type TurnRules = {
  /** Model calls per turn: a safety valve against a model that never stops. */
  maxSteps: number;
  /** Tokens that fit into the model; null = unknown. */
  contextLimit: number | null;
  /** 0 to 100; 100 = never compacts automatically. */
  compactionThresholdPercent: number;
};

export type NextAction =
  | { type: "call-model" }
  /** Open calls of server-side tools, in call order, and the assistant message that made them. */
  | { type: "run-tools"; messageId: string; calls: ToolCallPart[] }
  | { type: "compact"; source: CompactionSource }
  | { type: "await-client" }
  | { type: "finish" }
  | { type: "fail"; reason: "too_many_steps" };

/** `history` is every message the model may see, oldest first. Never throws. */
export function nextAction(
  history: HistoryMessage[],
  chat: Pick<ChatState, "openCalls" | "compactionRequestedAt">,
  rules: TurnRules,
): NextAction {
  if (chat.compactionRequestedAt !== null) return { type: "compact", source: "manual" };
  if (chat.openCalls.length > 0) return answerCalls(history, chat.openCalls);
  const last = history.findLast((message) => message.role !== "system");
  switch (last?.role) {
    case undefined:
      return { type: "finish" };
    case "assistant":
      return isFull(history, rules) ? { type: "compact", source: "automatic" } : { type: "finish" };
    case "user":
      // The model may have changed to one with a smaller context, or the message may be large.
      return isFull(history, rules) && canSummarize(history)
        ? { type: "compact", source: "automatic" }
        : { type: "call-model" };
    case "tool":
      if (isFull(history, rules)) return { type: "compact", source: "automatic" };
      return stepsInTurn(history) >= rules.maxSteps
        ? { type: "fail", reason: "too_many_steps" }
        : { type: "call-model" };
    case "system":
      return { type: "finish" };
  }
}

/** Whether history must be compacted before the next call. */
function isFull(history: HistoryMessage[], rules: TurnRules): boolean {
  const { contextLimit, compactionThresholdPercent } = rules;
  if (contextLimit === null || compactionThresholdPercent >= COMPACTION_OFF_PERCENT) return false;
  if (compactionsInTurn(history) >= MAX_COMPACTIONS_PER_TURN) return false;
  return isOverThreshold(contextUse(history), contextLimit, compactionThresholdPercent);
}

function answerCalls(history: HistoryMessage[], open: ChatState["openCalls"]): NextAction {
  const ours = new Set(open.filter((call) => !call.isClient).map((call) => call.toolCallId));
  if (ours.size === 0) return { type: "await-client" };
  const asking = history.findLast((message) => message.parts.some((part) => isCallIn(part, ours)));
  if (asking === undefined) return { type: "await-client" };
  const calls = asking.parts.filter((part): part is ToolCallPart => isCallIn(part, ours));
  return { type: "run-tools", messageId: asking.id, calls };
}

function isCallIn(part: MessagePart, ids: Set<string>): boolean {
  return part.type === "tool-call" && !part.isProviderExecuted && ids.has(part.toolCallId);
}

/** Model calls since the last user message. */
function stepsInTurn(history: HistoryMessage[]): number {
  const start = history.findLastIndex((message) => message.role === "user" && !message.isSummary);
  return history.slice(start + 1).filter((message) => message.role === "assistant").length;
}

/** The unanswered tool calls of one assistant message. */
export function openCallsOf(parts: MessagePart[], clientTools: ReadonlySet<string>): ChatState["openCalls"] {
  const answered = new Set(
    parts
      .filter((part): part is ToolResultPart => part.type === "tool-result")
      .map((part) => part.toolCallId),
  );
  return parts
    .filter((part): part is ToolCallPart => part.type === "tool-call")
    .filter((call) => !call.isProviderExecuted && !answered.has(call.toolCallId))
    .map(({ toolCallId, toolName, arguments: args, isCut, startedAt }) => {
      // A truncated or too deeply nested call does not go to the client: the server refuses it, as it does for its own tools.
      const isClient = clientTools.has(toolName) && !isCut && !isDeeperThan(args, MAX_ARGUMENT_DEPTH);
      return {
        ...{ toolCallId, toolName, isClient },
        ...(isClient && { arguments: args }),
        ...(startedAt !== undefined && { startedAt }),
      };
    });
}
