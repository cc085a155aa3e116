/**
 * Context compaction: a boundary in history that replaces everything before it, and the notice that users see of it.
 * The boundary is a user message visible to the model only; user messages just before it that are still unanswered
 * stay in the context verbatim, after it. Pure.
 */
import type { MessageDraft } from "./chat-state.js";
import { contextTokens } from "../models/context-window.js";
import type { JsonObject, JsonValue } from "../common/json.js";
import type { MessagePart, MessageRole, TextPart, TokenUsage } from "./message-parts.js";
import { estimateMessageTokens } from "../models/token-estimate.js";

/** Tool name in the notice of a summary; never offered to a model. */
export const CHAT_SUMMARIZED = "chat_summarized";
/** The same for a context that the user cleared. */
const CHAT_CLEARED = "chat_cleared";

/** `automatic` the context filled up · `overflow` the vendor refused the prompt · `manual` the user requested it. */
export type CompactionSource = "automatic" | "overflow" | "manual";

/** Limit of summaries per turn: a conversation that needs more is not getting shorter. */
export const MAX_COMPACTIONS_PER_TURN = 3;

/** The fields of a message that compaction reads. */
export type CompactableMessage = {
  role: MessageRole;
  parts: MessagePart[];
  isSummary: boolean;
  usage?: TokenUsage | null;
};

/** First words of the summary request and of the boundary; the demo model recognizes both by them. */
export const SUMMARY_REQUEST =
  "Summarise this conversation so that you can go on with the work from the summary alone; everything before it will be gone.";
export const SUMMARY_INTRODUCTION =
  "The conversation before this point was folded into the following summary to save context. Go on from it.";

const CLEARED_TEXT = "The user has cleared the conversation before this point. Do not refer to it.";
/** Metadata of a clearing boundary: nothing before it stays in the context, not even unanswered messages. */
const CLEARED: JsonObject = { parley: { isCleared: true } };

/** The boundary message of a summary. */
export function summaryDraft(summary: string): MessageDraft {
  return boundaryDraft({ type: "text", text: `${SUMMARY_INTRODUCTION}\n\n${summary}` });
}

/** The messages that clearing the context writes: the boundary, and the notice for users. `noticeId` is its tool call id. */
export function clearingDrafts(noticeId: string, now: number): MessageDraft[] {
  const boundary = boundaryDraft({ type: "text", text: CLEARED_TEXT, providerMetadata: CLEARED });
  const notice = noticeParts(CHAT_CLEARED, noticeId, {
    arguments: { source: "manual" },
    result: { isCleared: true },
    startedAt: now,
    durationMs: 0,
  });
  return [boundary, { role: "assistant", visibility: "user", parts: notice, isSummary: true }];
}

function boundaryDraft(part: TextPart): MessageDraft {
  return { role: "user", visibility: "model", parts: [part], isSummary: true };
}

/** The notice that users see of a compaction: a tool call and its result. */
export function noticeParts(
  toolName: typeof CHAT_SUMMARIZED | typeof CHAT_CLEARED,
  toolCallId: string,
  content: {
    arguments: JsonObject;
    result: JsonValue;
    isError?: boolean;
    startedAt: number;
    durationMs: number;
  },
): MessagePart[] {
  const { startedAt, durationMs, result, isError = false } = content;
  return [
    { type: "tool-call", toolCallId, toolName, arguments: content.arguments, startedAt },
    { type: "tool-result", toolCallId, toolName, result, isError, startedAt, durationMs },
  ];
}

/** Whether deltas or parts belong to a compaction notice: those are never saved as a partial answer. */
export function isNotice(parts: readonly { type: string; toolName?: string }[]): boolean {
  return parts.some(({ toolName }) => toolName === CHAT_SUMMARIZED || toolName === CHAT_CLEARED);
}

/**
 * The messages in the model's context, oldest first: the newest boundary, the unanswered user messages before it, then
 * everything after it. System messages are left out.
 */
export function contextOf<Message extends CompactableMessage>(history: readonly Message[]): Message[] {
  const messages = history.filter(({ role }) => role !== "system");
  const boundary = lastBoundary(messages);
  const [first] = messages.slice(boundary);
  if (boundary < 0 || first === undefined) return messages;
  return [first, ...unansweredBefore(messages, boundary), ...messages.slice(boundary + 1)];
}

/** Whether there is anything to summarize since the last boundary: an answer of a model. */
export function canSummarize(history: readonly CompactableMessage[]): boolean {
  return history.slice(lastBoundary(history) + 1).some(({ role }) => role === "assistant");
}

/** Summaries since the last user message. */
export function compactionsInTurn(history: readonly CompactableMessage[]): number {
  const start = history.findLastIndex((message) => message.role === "user" && !message.isSummary);
  return history.slice(start + 1).filter(({ isSummary }) => isSummary).length;
}

/**
 * Context size of the next call in tokens: the usage of the newest call since the last boundary, plus an estimate of
 * what came after it. Without such a call everything is estimated, except the system prompt and the tools.
 */
export function contextUse(history: readonly CompactableMessage[]): number {
  return measuredContextUse(history) ?? estimateTokens(contextOf(history));
}

/** The same, but null when no call since the last boundary has reported its usage. Looks at the history's end only. */
export function measuredContextUse(history: readonly CompactableMessage[]): number | null {
  const newest = history.findLastIndex((message) => hasUsage(message) || isBoundary(message));
  const message = history[newest];
  if (!message?.usage || !hasUsage(message)) return null;
  const since = history.slice(newest + 1).filter(({ role }) => role !== "system");
  return contextTokens(message.usage) + estimateTokens(since);
}

function estimateTokens(messages: readonly CompactableMessage[]): number {
  return messages.reduce((sum, { parts }) => sum + estimateMessageTokens(parts), 0);
}

function hasUsage({ role, usage }: CompactableMessage): boolean {
  return role === "assistant" && usage !== null && usage !== undefined;
}

function isBoundary({ role, isSummary }: CompactableMessage): boolean {
  return role === "user" && isSummary;
}

function lastBoundary(history: readonly CompactableMessage[]): number {
  return history.findLastIndex(isBoundary);
}

function unansweredBefore<Message extends CompactableMessage>(
  messages: readonly Message[],
  boundary: number,
): Message[] {
  if (isClearing(messages[boundary])) return [];
  const before = messages.slice(0, boundary);
  const lastOther = before.findLastIndex(({ role, isSummary }) => role !== "user" || isSummary);
  return before.slice(lastOther + 1);
}

function isClearing(boundary: CompactableMessage | undefined): boolean {
  const [part] = boundary?.parts ?? [];
  const own = part?.type === "text" ? part.providerMetadata?.["parley"] : undefined;
  return typeof own === "object" && own !== null && "isCleared" in own;
}
