/** Rows of chats, messages and queue as pg gives them, and as the rest of the house reads them. */
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { ChatState, OpenCall, RetryNotice } from "../../domain/chats/chat-state.js";
import type { ChatFailure } from "../../domain/common/failures.js";
import type { MessagePart, TokenUsage } from "../../domain/chats/message-parts.js";
import { MalformedContent, partsOfVersion0 } from "../../domain/chats/content-versions.js";
import { fromJsonb } from "../common/jsonb-text.js";
import { previewOf } from "./queue-preview.js";

/** The form of `content` that this version writes: an array of message parts. */
export const CONTENT_VERSION = 1;

/** A row written by a newer Parley. Reading on would lose what it says, so nothing is read. */
export class UnknownContentVersion extends Error {
  override readonly name = "UnknownContentVersion";

  constructor(version: number) {
    super(`Content version ${version} is unknown: this row was written by a newer version of Parley.`);
  }
}

/** Whose a thing is, as far as it is the chat's that it is in. */
export type Owned = { ownerId: string };

/** For `SELECT`s and `RETURNING`s that end in `toChatState`; the table's alias is `c`. */
export const chatStateColumns = `c.status, c.archived_at, c.worker_id, c.runner_id, c.snapshot_version,
  c.history_version, c.reset_version, c.queue_version, c.status_version, c.retry_version, c.title_version, c.diff_version, c.title,
  c.title_source, c.attempt, c.retry_state, c.last_error, c.action_deadline_at, c.compaction_requested_at, c.open_calls, c.queued_ids,
  c.priority_queued_ids, c.generation_started_at, (c.parent_chat_id IS NOT NULL) AS is_subagent`;

export type ChatStateDbRow = {
  status: ChatState["status"];
  archived_at: Date | null;
  worker_id: string | null;
  runner_id: string | null;
  snapshot_version: string;
  history_version: string;
  reset_version: string;
  queue_version: string;
  status_version: string;
  retry_version: string;
  title_version: string;
  diff_version: string;
  title: string;
  title_source: ChatState["titleSource"];
  attempt: number;
  retry_state: RetryNotice | null;
  last_error: ChatFailure | null;
  action_deadline_at: Date | null;
  compaction_requested_at: Date | null;
  open_calls: OpenCall[];
  queued_ids: string[];
  priority_queued_ids: string[];
  generation_started_at: Date | null;
  is_subagent: boolean;
};

export function toChatState(row: ChatStateDbRow): ChatState {
  return {
    status: row.status,
    isArchived: row.archived_at !== null,
    isSubagent: row.is_subagent,
    workerId: row.worker_id,
    runnerId: row.runner_id,
    snapshotVersion: Number(row.snapshot_version),
    historyVersion: Number(row.history_version),
    resetVersion: Number(row.reset_version),
    queueVersion: Number(row.queue_version),
    statusVersion: Number(row.status_version),
    retryVersion: Number(row.retry_version),
    titleVersion: Number(row.title_version),
    diffVersion: Number(row.diff_version),
    title: row.title,
    titleSource: row.title_source,
    attempt: row.attempt,
    generationStartedAt: row.generation_started_at?.getTime() ?? null,
    retry: fromJsonb(row.retry_state),
    lastError: fromJsonb(row.last_error),
    actionDeadlineAt: row.action_deadline_at?.getTime() ?? null,
    compactionRequestedAt: row.compaction_requested_at?.getTime() ?? null,
    openCalls: fromJsonb(row.open_calls),
    queuedIds: row.queued_ids,
    priorityIds: row.priority_queued_ids,
  };
}

/** For `SELECT`s and `RETURNING`s that end in `toMessageRow`; the table's alias is `m`. */
export const messageColumns = `m.id, m.chat_id, m.role, m.visibility, m.content_version, m.content, m.author_id,
  m.model_config_id, m.reasoning_effort, m.mcp_server_ids, m.input_tokens, m.output_tokens, m.reasoning_tokens, m.cache_read_tokens,
  m.cache_write_tokens, m.cost_micros, m.runtime_ms, m.generation, m.finish_reason, m.is_usage_estimated, m.provider_response_id, m.is_summary, m.revision,
  m.created_at`;

export type MessageDbRow = {
  id: string;
  chat_id: string;
  role: MessageRow["role"];
  visibility: MessageRow["visibility"];
  content_version: number;
  content: MessagePart[];
  author_id: string | null;
  model_config_id: string | null;
  reasoning_effort: MessageRow["reasoningEffort"];
  mcp_server_ids: string[] | null;
  input_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  cost_micros: string | null;
  runtime_ms: number | null;
  generation: string | null;
  finish_reason: MessageRow["finishReason"];
  is_usage_estimated: boolean;
  provider_response_id: string | null;
  is_summary: boolean;
  revision: string;
  created_at: Date;
};

export function toMessageRow(row: MessageDbRow): MessageRow {
  return {
    id: row.id,
    chatId: row.chat_id,
    role: row.role,
    visibility: row.visibility,
    parts: toParts(row.role, row),
    authorId: row.author_id,
    modelConfigId: row.model_config_id,
    reasoningEffort: row.reasoning_effort,
    mcpServerIds: row.mcp_server_ids,
    usage: toUsage(row),
    costMicros: row.cost_micros,
    runtimeMs: row.runtime_ms,
    generation: row.generation,
    finishReason: row.finish_reason,
    responseId: row.provider_response_id,
    isSummary: row.is_summary,
    revision: Number(row.revision),
    createdAt: row.created_at.getTime(),
  };
}

export function toUsage(
  row: Pick<
    MessageDbRow,
    | "input_tokens"
    | "output_tokens"
    | "reasoning_tokens"
    | "cache_read_tokens"
    | "cache_write_tokens"
    | "is_usage_estimated"
  >,
): TokenUsage | null {
  if (row.input_tokens === null || row.output_tokens === null) return null;
  return {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens ?? 0,
    cacheReadTokens: row.cache_read_tokens ?? 0,
    cacheWriteTokens: row.cache_write_tokens ?? 0,
    ...(row.is_usage_estimated ? { isEstimated: true } : {}),
  };
}

/** For `SELECT`s and `RETURNING`s that end in `toQueuedRow`; the table's alias is `q`. */
export const queuedColumns = `q.id, q.chat_id, q.author_id, q.model_config_id, q.reasoning_effort,
  q.content_version, coalesce(q.preview, q.content) AS content, q.preview IS NOT NULL AS is_cut, q.created_at`;

export type QueuedDbRow = {
  id: string;
  chat_id: string;
  author_id: string;
  model_config_id: string | null;
  reasoning_effort: QueuedRow["reasoningEffort"];
  content_version: number;
  content: MessagePart[];
  is_cut: boolean;
  created_at: Date;
};

export function toQueuedRow(row: QueuedDbRow): QueuedRow {
  // Servers of an older version, which run beside this one for a while, write no previews.
  const { parts, isCut } = previewOf(toParts("user", row));
  return {
    id: row.id,
    chatId: row.chat_id,
    parts,
    isCut: isCut || row.is_cut,
    authorId: row.author_id,
    modelConfigId: row.model_config_id,
    reasoningEffort: row.reasoning_effort,
    createdAt: row.created_at.getTime(),
  };
}

type Stored = { content_version: number; content: unknown };

/** A stored message's parts, whatever version wrote them. */
export function toParts(
  role: MessageRow["role"],
  { content_version: version, content }: Stored,
): MessagePart[] {
  if (version === 0) return partsOfVersion0(role, content);
  if (version !== CONTENT_VERSION) throw new UnknownContentVersion(version);
  if (!Array.isArray(content)) throw new MalformedContent(role, "it is not a list");
  return fromJsonb(content as MessagePart[]);
}
