/** Columns and readers of chats, messages and queued messages. */
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { MessagePart, TokenUsage } from "../../domain/chats/message-parts.js";
import { MalformedContent, partsOfVersion0 } from "../../domain/chats/content-versions.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { fromJsonb } from "../common/jsonb-text.js";
import { TOKEN_PROPERTIES } from "../usage/model-usage-columns.js";
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

const plainState = selectionOf(ChatEntity, "c", PLAIN_STATE_PROPERTIES);

/** For statements whose rows go to `toChatState`; the table's alias is `c`. */
export const chatStateColumns = selectionOf(ChatEntity, "c", STATE_PROPERTIES).columns;
export type ChatStateDbRow = Selected<Pick<ChatEntity, (typeof STATE_PROPERTIES)[number]>>;

export const toChatState: (row: ChatStateDbRow) => ChatState = plainState.readWith({
  isArchived: (row: ChatStateDbRow) => row.archivedAt !== null,
  isSubagent: (row: ChatStateDbRow) => row.parentChatId !== null,
});

const tokens = selectionOf(ChatMessageEntity, "m", [...TOKEN_PROPERTIES, "isUsageEstimated"]);
const content = selectionOf(ChatMessageEntity, "m", ["contentVersion", "content"]);
const stored = selectionOf(ChatMessageEntity, "m", ["role", "contentVersion", "content"]);
const plainMessage = selectionOf(ChatMessageEntity, "m", [
  ...(["id", "chatId", "role", "visibility", "authorId", "modelConfigId", "reasoningEffort"] as const),
  ...(["mcpServerIds", "costMicros", "runtimeMs", "generation", "finishReason"] as const),
  ...(["responseId", "isSummary", "revision", "createdAt"] as const),
]);

/** For statements whose rows go to `toMessageRow`; the table's alias is `m`. */
export const messageColumns = [plainMessage, content, tokens].map(({ columns }) => columns).join(", ");
export type MessageDbRow = Selected<ReturnType<(typeof plainMessage)["read"]>> &
  Selected<ReturnType<(typeof stored)["read"]>> &
  UsageDbRow & { id: string; chatId: string };

export const toMessageRow: (row: MessageDbRow) => MessageRow = plainMessage.readWith({
  parts: (row: MessageDbRow) => {
    const read = stored.read(row);
    return toParts(read.role, read);
  },
  usage: (row: MessageDbRow) => readUsage(row),
});

/** For statements whose rows go to `readUsage`; the table's alias is `m`. */
export const usageColumns = tokens.columns;
export type UsageDbRow = Selected<ReturnType<(typeof tokens)["read"]>>;

export function readUsage(row: UsageDbRow): TokenUsage | null {
  const read = tokens.read(row);
  if (read.inputTokens === null || read.outputTokens === null) return null;
  return {
    inputTokens: read.inputTokens,
    outputTokens: read.outputTokens,
    reasoningTokens: read.reasoningTokens ?? 0,
    cacheReadTokens: read.cacheReadTokens ?? 0,
    cacheWriteTokens: read.cacheWriteTokens ?? 0,
    ...(read.isUsageEstimated ? { isEstimated: true } : {}),
  };
}

const plainQueued = selectionOf(ChatQueuedMessageEntity, "q", [
  ...(["id", "chatId", "authorId", "modelConfigId", "reasoningEffort", "createdAt"] as const),
]);
const queuedVersion = selectionOf(ChatQueuedMessageEntity, "q", ["contentVersion"]);

/** For statements whose rows go to `toQueuedRow`; the table's alias is `q`. */
export const queuedColumns = `${plainQueued.columns}, ${queuedVersion.columns}, coalesce(q.preview, q.content) AS content,
  q.preview IS NOT NULL AS "isCut"`;
export type QueuedDbRow = Selected<ReturnType<(typeof plainQueued)["read"]>> &
  Selected<ReturnType<(typeof queuedVersion)["read"]>> & { content: unknown; isCut: boolean };

export function toQueuedRow(row: QueuedDbRow): QueuedRow {
  const { contentVersion } = queuedVersion.read(row);
  // Servers of an older version, which run beside this one for a while, write no previews.
  const { parts, isCut } = previewOf(toParts("user", { contentVersion, content: row.content }));
  return { parts, isCut: isCut || row.isCut, ...plainQueued.read(row) };
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
