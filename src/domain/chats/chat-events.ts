/**
 * Events of a chat, saved and live. A saved event has a position in the chat's history of versions and can always be
 * replayed from the database; a live delta only has an identity and is gone with its generation's log.
 */
import type { ChatState, ChatStatus, OpenCall, RetryNotice } from "./chat-state.js";
import type { ChatFailure } from "../common/failures.js";
import type { FinishReason } from "./finish-reasons.js";
import type {
  MessagePart,
  MessageRole,
  MessageVisibility,
  NoticePart,
  ReasoningEffort,
  SourcePart,
  TokenUsage,
  ToolCallPart,
  ToolResultPart,
} from "./message-parts.js";

/** A stored message. `id` grows with history; `createdAt` in milliseconds since the epoch. */
export type MessageRow = {
  id: string;
  chatId: string;
  role: MessageRole;
  visibility: MessageVisibility;
  parts: MessagePart[];
  authorId: string | null;
  modelConfigId: string | null;
  reasoningEffort: ReasoningEffort | null;
  /** The MCP servers that were selected when the user sent this; null = not a user's message, or an old one. */
  mcpServerIds: string[] | null;
  usage: TokenUsage | null;
  /** Whole microdollars as a decimal string; null = unpriced, "0" = free. */
  costMicros: string | null;
  runtimeMs: number | null;
  generation: string | null;
  /** Why the model stopped; null = it was interrupted, no model wrote this, or an older server saved it. */
  finishReason: FinishReason | null;
  /** The vendor's id of the response that became this message; null when the vendor gives none or it was cut. */
  responseId: string | null;
  isSummary: boolean;
  /** The chat's snapshot that last wrote this row. */
  revision: number;
  createdAt: number;
};

/** A queued message. */
export type QueuedRow = {
  id: string;
  chatId: string;
  /** Only the beginning when the message is too long for lists and events. */
  parts: MessagePart[];
  /** Whether `parts` is only the beginning. */
  isCut: boolean;
  authorId: string;
  modelConfigId: string | null;
  reasoningEffort: ReasoningEffort | null;
  createdAt: number;
};

/** What one committed transition changed. Published after the commit; may be lost, duplicated or reordered in transit. */
export type SavedChange = {
  chatId: string;
  ownerId: string;
  /** The snapshot before this transition: a reader at exactly this version needs nothing else. */
  previousVersion: number;
  /** What lists of chats showed before; absent for a new chat, and for one that a worker has just claimed. */
  before?: Pick<ChatState, "status" | "isArchived" | "titleVersion" | "diffVersion">;
  state: ChatState;
  /** Rows written by this transition, oldest first; null = too large to carry, read them from the database. */
  messages: MessageRow[] | null;
  /** The whole queue; absent = unchanged by this transition, null = changed, but too large to carry. */
  queue?: QueuedRow[] | null;
};

/** Identifies one attempt at one step of a chat: the unit that a preview and its deltas belong to. */
export type Generation = {
  historyVersion: number;
  attempt: number;
  /** Milliseconds since the epoch, where known; not part of the identity. */
  startedAt?: number | null;
};

export function generationId(generation: Generation): string {
  return `gen_${generation.historyVersion}_${generation.attempt}`;
}

/** Null when the text is not a generation id. */
export function parseGenerationId(id: string): Generation | null {
  const match = /^gen_(\d{1,15})_(\d{1,15})$/.exec(id);
  return match ? { historyVersion: Number(match[1]), attempt: Number(match[2]) } : null;
}

/** Negative when `a` came before `b` in the life of the chat. */
export function compareGenerations(a: Generation, b: Generation): number {
  return a.historyVersion - b.historyVersion || a.attempt - b.attempt;
}

/** An addition to the preview of a message: text to append to a part, or a whole part. */
export type MessageDelta =
  | { type: "text-delta"; append: string }
  | { type: "reasoning-delta"; append: string }
  | { type: "tool-input-delta"; toolCallId: string; toolName: string; append: string }
  /** Output of a running tool; the call's result replaces all of it. */
  | { type: "tool-output-delta"; toolCallId: string; append: string }
  | ToolCallPart
  | ToolResultPart
  | SourcePart
  | NoticePart;

/** A delta with its address: `sequence` counts 1, 2, 3… within the generation, `partIndex` from 0 in the message. */
export type LiveDelta = { sequence: number; role: MessageRole; partIndex: number; delta: MessageDelta };

/** Deltas of one generation that are published together, in sequence order. */
export type LiveBatch = { chatId: string; generation: Generation; deltas: LiveDelta[] };

/** A reader's position in the saved events: everything up to and including it has been delivered. */
export type Position = { version: number; stage: number; messageId: number };

/** The order of events within one version. */
export const STAGES = {
  message: 0,
  queue: 1,
  status: 2,
  error: 3,
  action: 4,
  retry: 5,
  title: 6,
  diff: 7,
  end: 9,
} as const;

export type SavedEvent = { position: Position } & (
  | { type: "message"; message: MessageRow }
  | { type: "queue"; queue: QueuedRow[] }
  | { type: "status"; status: ChatStatus }
  | { type: "error"; failure: ChatFailure }
  | { type: "action-required"; calls: OpenCall[]; deadline: number | null }
  | { type: "retry"; retry: RetryNotice; generation: Generation }
  | { type: "title"; title: string }
  /** The diff status itself is read when the event is delivered, so it is never older than this position. */
  | { type: "diff-status" }
);

/** The position of a reader that has received everything up to and including `version`. */
export function endOfVersion(version: number): Position {
  return { version, stage: STAGES.end, messageId: 0 };
}

export function comparePositions(a: Position, b: Position): number {
  return a.version - b.version || a.stage - b.stage || a.messageId - b.messageId;
}

/**
 * The saved events that a reader at `after` has not received, in the order of the contract. `messages` must contain at
 * least every visible row written after `after.version - 1`, `queue` the whole queue of `state`.
 */
export function savedEventsAfter(
  after: Position,
  state: ChatState,
  rows: { messages: MessageRow[]; queue: QueuedRow[] },
): SavedEvent[] {
  const at = (version: number, stage: number, messageId = 0): Position => ({ version, stage, messageId });
  const items: SavedEvent[] = rows.messages
    .filter(({ revision, visibility }) => revision >= after.version && visibility !== "model")
    .map((message) => ({
      type: "message",
      message,
      position: at(message.revision, STAGES.message, Number(message.id)),
    }));
  items.push({ type: "queue", queue: rows.queue, position: at(state.queueVersion, STAGES.queue) });
  items.push({ type: "status", status: state.status, position: at(state.statusVersion, STAGES.status) });
  if (state.lastError) {
    items.push({ type: "error", failure: state.lastError, position: at(state.statusVersion, STAGES.error) });
  }
  if (state.status === "requires_action") {
    items.push({
      type: "action-required",
      calls: state.openCalls,
      deadline: state.actionDeadlineAt,
      position: at(state.statusVersion, STAGES.action),
    });
  }
  if (state.retry) {
    items.push({
      type: "retry",
      retry: state.retry,
      generation: {
        historyVersion: state.historyVersion,
        attempt: state.attempt,
        startedAt: state.generationStartedAt,
      },
      position: at(state.retryVersion, STAGES.retry),
    });
  }
  items.push({ type: "title", title: state.title, position: at(state.titleVersion, STAGES.title) });
  items.push({ type: "diff-status", position: at(state.diffVersion, STAGES.diff) });
  return items
    .filter((item) => comparePositions(item.position, after) > 0)
    .sort((a, b) => comparePositions(a.position, b.position));
}
