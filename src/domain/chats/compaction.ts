/**
 * How a long talk is folded: a boundary in history that stands for everything before it, and the notice of it that
 * people see. The boundary is a user message for the model alone; what people said just before it and nobody has
 * answered yet stays word for word behind it. Pure.
 */
import type { MessageDraft } from "./chat-state.js";
import { contextTokens } from "../models/context-window.js";
import type { JsonObject, JsonValue } from "../common/json.js";
import type { MessagePart, MessageRole, TextPart, TokenUsage } from "./message-parts.js";
import { estimateMessageTokens } from "../models/token-estimate.js";

/** The tool that the notice of a summary names; no model is ever offered it. */
export const CHAT_SUMMARIZED = "chat_summarized";
/** The same for a context that a person cleared. */
export const CHAT_CLEARED = "chat_cleared";

/** `automatic` the context filled up · `overflow` the vendor refused the prompt · `manual` a person asked. */
export type CompactionSource = "automatic" | "overflow" | "manual";

/** Summaries that one turn may make; a conversation that needs more does not get shorter. */
export const MAX_COMPACTIONS_PER_TURN = 3;

/** The little of a message that folding looks at. */
export type CompactableMessage = {
  role: MessageRole;
  parts: MessagePart[];
  isSummary: boolean;
  usage?: TokenUsage | null;
};

/** How the request for a summary begins, and how the boundary does: the demo model knows them by these words. */
export const SUMMARY_REQUEST =
  "Summarise this conversation so that you can go on with the work from the summary alone; everything before it will be gone.";
export const SUMMARY_INTRODUCTION =
  "The conversation before this point was folded into the following summary to save context. Go on from it.";

const CLEARED_TEXT = "The person has cleared the conversation before this point. Do not refer to it.";
/** In the boundary's own metadata: nothing from before it is kept, not even what is unanswered. */
const CLEARED: JsonObject = { parley: { isCleared: true } };

/** The boundary that a summary makes. */
export function summaryDraft(summary: string): MessageDraft {
  return boundaryDraft({ type: "text", text: `${SUMMARY_INTRODUCTION}\n\n${summary}` });
}

/** What clearing the context at `now` writes: the boundary, and the notice for people. `noticeId` names its call. */
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

/** A call and its result, as people see what became of their talk. */
export function noticeParts(
  toolName: typeof CHAT_SUMMARIZED | typeof CHAT_CLEARED,
  toolCallId: string,
  said: {
    arguments: JsonObject;
    result: JsonValue;
    isError?: boolean;
    startedAt: number;
    durationMs: number;
  },
): MessagePart[] {
  const { startedAt, durationMs, result, isError = false } = said;
  return [
    { type: "tool-call", toolCallId, toolName, arguments: said.arguments, startedAt },
    { type: "tool-result", toolCallId, toolName, result, isError, startedAt, durationMs },
  ];
}

/** Whether streamed pieces or parts are a notice: those are never kept as an answer. */
export function isNotice(parts: readonly { type: string; toolName?: string }[]): boolean {
  return parts.some(({ toolName }) => toolName === CHAT_SUMMARIZED || toolName === CHAT_CLEARED);
}

/**
 * The messages a model is to see, oldest first: from the newest boundary on, followed by what people had said before
 * it without an answer. System messages are not counted among them.
 */
export function contextOf<Message extends CompactableMessage>(history: readonly Message[]): Message[] {
  const spoken = history.filter(({ role }) => role !== "system");
  const boundary = lastBoundary(spoken);
  const [first] = spoken.slice(boundary);
  if (boundary < 0 || first === undefined) return spoken;
  return [first, ...unansweredBefore(spoken, boundary), ...spoken.slice(boundary + 1)];
}

/** Whether there is anything since the last boundary that a summary could stand for: an answer of a model. */
export function canSummarize(history: readonly CompactableMessage[]): boolean {
  return history.slice(lastBoundary(history) + 1).some(({ role }) => role === "assistant");
}

/** Summaries since a person last spoke. */
export function compactionsInTurn(history: readonly CompactableMessage[]): number {
  const start = history.findLastIndex((message) => message.role === "user" && !message.isSummary);
  return history.slice(start + 1).filter(({ isSummary }) => isSummary).length;
}

/**
 * Tokens that the next call has to read: what the newest call since the last boundary used, and what came after it by
 * estimate. Without such a call all of it is estimated, but for the system prompt and the tools.
 */
export function contextUse(history: readonly CompactableMessage[]): number {
  const context = contextOf(history);
  const newest = context.findLastIndex(({ role, usage }) => role === "assistant" && usage);
  const used = context[newest]?.usage;
  const since = context.slice(newest + 1);
  return since.reduce((sum, { parts }) => sum + estimateMessageTokens(parts), used ? contextTokens(used) : 0);
}

function lastBoundary(history: readonly CompactableMessage[]): number {
  return history.findLastIndex(({ role, isSummary }) => role === "user" && isSummary);
}

function unansweredBefore<Message extends CompactableMessage>(
  spoken: readonly Message[],
  boundary: number,
): Message[] {
  if (isClearing(spoken[boundary])) return [];
  const before = spoken.slice(0, boundary);
  const lastOther = before.findLastIndex(({ role, isSummary }) => role !== "user" || isSummary);
  return before.slice(lastOther + 1);
}

function isClearing(boundary: CompactableMessage | undefined): boolean {
  const [part] = boundary?.parts ?? [];
  const own = part?.type === "text" ? part.providerMetadata?.["parley"] : undefined;
  return typeof own === "object" && own !== null && "isCleared" in own;
}
