/** Columns and readers of chats, messages and queued messages. */
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { MessagePart, TokenUsage } from "../../domain/chats/message-parts.js";
import { MalformedContent, partsOfVersion0 } from "../../domain/chats/content-versions.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { fromJsonb } from "../common/jsonb-text.js";
import type { ModelUsageColumns } from "../usage/model-usage-columns.js";
import { ChatMessageEntity } from "./chat-message.entity.js";
import { ChatQueuedMessageEntity } from "./chat-queued-message.entity.js";
import { ChatEntity } from "./chat.entity.js";
import { previewOf } from "./queue-preview.js";

/** The form of `content` that this version writes: an array of message parts. */
export const CONTENT_VERSION = 1;

/** A row written by a newer Parley. Rejected, because reading on would lose content. */
export class UnknownContentVersion extends Error {
  override readonly name = "UnknownContentVersion";

  constructor(version: number) {
    super(`Content version ${version} is unknown: this row was written by a newer version of Parley.`);
  }
}

/** The owner of the chat that a row belongs to. */
export type Owned = { ownerId: string };

/** State columns that are read and written as `ChatState` has them. */
export const PLAIN_STATE_PROPERTIES = [
  ...(["status", "workerId", "runnerId", "attempt", "generationStartedAt", "retry", "lastError"] as const),
  ...(["snapshotVersion", "historyVersion", "resetVersion", "queueVersion", "statusVersion"] as const),
  ...(["retryVersion", "titleVersion", "diffVersion", "title", "titleSource"] as const),
  ...(["actionDeadlineAt", "compactionRequestedAt", "openCalls", "queuedIds", "priorityIds"] as const),
] as const satisfies readonly (keyof ChatEntity & keyof ChatState)[];

export const STATE_PROPERTIES = [...PLAIN_STATE_PROPERTIES, "archivedAt", "parentChatId"] as const;

const state = selectionOf(ChatEntity, "c", STATE_PROPERTIES);

/** For statements whose rows go to `toChatState`; the table's alias is `c`. */
export const chatStateColumns = state.columns;
export type ChatStateDbRow = Selected<Pick<ChatEntity, (typeof STATE_PROPERTIES)[number]>>;

export function toChatState(row: ChatStateDbRow): ChatState {
  const { archivedAt, parentChatId, ...plain } = state.read(row);
  return { ...plain, isArchived: archivedAt !== null, isSubagent: parentChatId !== null };
}

const usage = [
  ...(["inputTokens", "outputTokens", "reasoningTokens", "cacheReadTokens", "cacheWriteTokens"] as const),
  "isUsageEstimated",
] as const satisfies readonly (keyof ModelUsageColumns)[];

const message = selectionOf(ChatMessageEntity, "m", [
  ...([
    "id",
    "chatId",
    "role",
    "visibility",
    "contentVersion",
    "content",
    "authorId",
    "modelConfigId",
  ] as const),
  ...(["reasoningEffort", "mcpServerIds", ...usage, "costMicros", "runtimeMs", "generation"] as const),
  ...(["finishReason", "responseId", "isSummary", "revision", "createdAt"] as const),
]);

/** For statements whose rows go to `toMessageRow`; the table's alias is `m`. */
export const messageColumns = message.columns;
export type MessageDbRow = Selected<ReturnType<(typeof message)["read"]>> & { id: string; chatId: string };

export function toMessageRow(row: MessageDbRow): MessageRow {
  const { contentVersion, content, ...read } = message.read(row);
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens, ...rest } = read;
  const { isUsageEstimated, ...plain } = rest;
  return { ...plain, parts: toParts(plain.role, { contentVersion, content }), usage: toUsage(read) };
}

const tokens = selectionOf(ChatMessageEntity, "m", usage);

/** For statements whose rows go to `readUsage`; the table's alias is `m`. */
export const usageColumns = tokens.columns;
export type UsageDbRow = Selected<Pick<ModelUsageColumns, (typeof usage)[number]>>;

export function readUsage(row: UsageDbRow): TokenUsage | null {
  return toUsage(tokens.read(row));
}

function toUsage(row: Pick<ModelUsageColumns, (typeof usage)[number]>): TokenUsage | null {
  if (row.inputTokens === null || row.outputTokens === null) return null;
  return {
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    reasoningTokens: row.reasoningTokens ?? 0,
    cacheReadTokens: row.cacheReadTokens ?? 0,
    cacheWriteTokens: row.cacheWriteTokens ?? 0,
    ...(row.isUsageEstimated ? { isEstimated: true } : {}),
  };
}

const queued = selectionOf(ChatQueuedMessageEntity, "q", [
  ...([
    "id",
    "chatId",
    "authorId",
    "modelConfigId",
    "reasoningEffort",
    "contentVersion",
    "createdAt",
  ] as const),
]);

/** For statements whose rows go to `toQueuedRow`; the table's alias is `q`. */
export const queuedColumns = `${queued.columns}, coalesce(q.preview, q.content) AS content,
  q.preview IS NOT NULL AS "isCut"`;
export type QueuedDbRow = Selected<ReturnType<(typeof queued)["read"]>> & {
  content: unknown;
  isCut: boolean;
};

export function toQueuedRow(row: QueuedDbRow): QueuedRow {
  const { contentVersion, ...plain } = queued.read(row);
  // Servers of an older version, which run beside this one for a while, write no previews.
  const { parts, isCut } = previewOf(toParts("user", { contentVersion, content: row.content }));
  return { ...plain, parts, isCut: isCut || row.isCut };
}

/** A stored message's parts, whatever version wrote them. */
export function toParts(
  role: MessageRow["role"],
  { contentVersion, content }: { contentVersion: number; content: unknown },
): MessagePart[] {
  if (contentVersion === 0) return partsOfVersion0(role, content);
  if (contentVersion !== CONTENT_VERSION) throw new UnknownContentVersion(contentVersion);
  if (!Array.isArray(content)) throw new MalformedContent(role, "it is not a list");
  return fromJsonb(content as MessagePart[]);
}
