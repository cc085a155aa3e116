/**
 * The SQL of transitions: the only statements that write a chat's execution state, its history and its queue.
 * What to write is decided in domain/chat-lifecycle; here it only becomes rows.
 */
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { ChatState, MessageDraft, UserMessage } from "../../domain/chats/chat-state.js";
import type { Command, Write } from "../../domain/chats/transition.js";
import type { Queryable, Statement } from "../common/database.js";
import { listToJsonb, toJsonb } from "../common/jsonb-text.js";
import { previewOf } from "./queue-preview.js";
import {
  CONTENT_VERSION,
  chatStateColumns,
  messageColumns,
  queuedColumns,
  toChatState,
  toMessageRow,
  toQueuedRow,
  type ChatStateDbRow,
  type MessageDbRow,
  type QueuedDbRow,
} from "./rows.js";

/** A chat in another state, guarded: nothing is written unless the row still stands at `previous`. */
export type StateChange = { chatId: string; previous: ChatState; next: ChatState; now: number };

const LOCK: Statement = {
  name: "chat-lock",
  text: `SELECT c.owner_id, ${chatStateColumns} FROM chats c WHERE c.id = $1 FOR UPDATE`,
};

/** Locks the chat's row until the transaction ends. Null when there is no such chat. */
export async function lockChat(
  transaction: Queryable,
  chatId: string,
): Promise<{ ownerId: string; state: ChatState } | null> {
  const [row] = await transaction.query<ChatStateDbRow & { owner_id: string }>(LOCK, [chatId]);
  return row ? { ownerId: row.owner_id, state: toChatState(row) } : null;
}

/** Parameters of `MOVE`: chat columns in the order of `stateValues`; $1 is the id and $2 the version that must still stand. */
const MOVE_PARAMETERS = 29;
const MOVE = `UPDATE chats c SET
  status = $3::chat_status, archived_at = CASE WHEN $4::boolean THEN coalesce(c.archived_at, $5::timestamptz) END,
  worker_id = $6, runner_id = $7, snapshot_version = $8, history_version = $9, reset_version = $10,
  queue_version = $11, status_version = $12, retry_version = $13, attempt = $14, retry_state = $15, last_error = $16,
  action_deadline_at = $17, compaction_requested_at = $18, open_calls = $19, queued_ids = $20,
  title_version = $21, title = $22, title_source = $23::title_source,
  model_config_id = coalesce($24, c.model_config_id),
  mcp_server_ids = coalesce($26::uuid[], c.mcp_server_ids),
  diff_version = $27, priority_queued_ids = $28, generation_started_at = $29, updated_at = CASE WHEN $25::boolean THEN $5::timestamptz ELSE c.updated_at END
  WHERE c.id = $1 AND c.snapshot_version = $2`;

const INSERT_COLUMNS = `(chat_id, mcp_server_ids, role, visibility, content_version, content, author_id,
  model_config_id, reasoning_effort, input_tokens, output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_micros,
  runtime_ms, generation, finish_reason, is_usage_estimated, provider_response_id, is_summary, revision, created_at)`;

/** Of the arrays in the order of `draftValues`. */
const DRAFT_TYPES = [
  ...["message_role", "message_visibility", "jsonb", "uuid", "uuid", "text"],
  ...["int", "int", "int", "int", "int", "bigint", "int", "text", "text", "boolean"],
  ...["text", "boolean"],
];

/** Rows from arrays, in order; `first` is the number of the first array's parameter. */
function draftRows(first: number): string {
  const arrays = DRAFT_TYPES.map((type, index) => `$${first + index}::${type}[]`);
  return `unnest(${arrays.join(", ")}) WITH ORDINALITY AS d(role, visibility, content, author_id, model_config_id,
    reasoning_effort, input_tokens, output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens,
    cost_micros, runtime_ms, generation, finish_reason, is_usage_estimated, provider_response_id, is_summary, place)`;
}

const DRAFT_FIELDS = `d.role, d.visibility, ${CONTENT_VERSION}, d.content, d.author_id, d.model_config_id,
  d.reasoning_effort, d.input_tokens, d.output_tokens, d.reasoning_tokens, d.cache_read_tokens, d.cache_write_tokens,
  d.cost_micros, d.runtime_ms, d.generation, d.finish_reason, d.is_usage_estimated, d.provider_response_id, d.is_summary`;

/** What is selected stands with what a person says: with `chat`'s choice after the move, which took over theirs. */
const selectionIn = (chat: string) =>
  `CASE WHEN d.role = 'user' AND d.author_id IS NOT NULL THEN ${chat}.mcp_server_ids END`;

/** The first parameter behind those of `MOVE` and the drafts. */
const AFTER_DRAFTS = MOVE_PARAMETERS + DRAFT_TYPES.length + 1;

const MOVE_ONLY: Statement = { name: "chat-move", text: `${MOVE} RETURNING NULL AS id` };

const MOVE_AND_INSERT: Statement = {
  name: "chat-move-insert",
  text: `WITH moved AS (${MOVE} RETURNING c.id, c.mcp_server_ids),
    inserted AS (
      INSERT INTO chat_messages AS m ${INSERT_COLUMNS}
      SELECT moved.id, ${selectionIn("moved")}, ${DRAFT_FIELDS}, $8, $5::timestamptz
      FROM moved, ${draftRows(MOVE_PARAMETERS + 1)} ORDER BY d.place
      RETURNING ${messageColumns})
    SELECT * FROM inserted ORDER BY id`,
};

const MOVE_INSERT_AND_ADD_RUNTIME: Statement = {
  name: "chat-move-insert-runtime",
  text: `WITH moved AS (${MOVE} RETURNING c.id, c.mcp_server_ids),
    timed AS (
      UPDATE chat_messages m SET runtime_ms = coalesce(m.runtime_ms, 0) + $${AFTER_DRAFTS + 1}, revision = $8
      FROM moved WHERE m.id = $${AFTER_DRAFTS} AND m.chat_id = moved.id RETURNING ${messageColumns}),
    inserted AS (
      INSERT INTO chat_messages AS m ${INSERT_COLUMNS}
      SELECT moved.id, ${selectionIn("moved")}, ${DRAFT_FIELDS}, $8, $5::timestamptz
      FROM moved, ${draftRows(MOVE_PARAMETERS + 1)} ORDER BY d.place
      RETURNING ${messageColumns})
    SELECT * FROM timed UNION ALL SELECT * FROM inserted ORDER BY id`,
};

const INSERT: Statement = {
  name: "messages-insert",
  text: `WITH inserted AS (
      INSERT INTO chat_messages AS m ${INSERT_COLUMNS}
      SELECT c.id, ${selectionIn("c")}, ${DRAFT_FIELDS}, $2, $3::timestamptz
      FROM chats c, ${draftRows(4)} WHERE c.id = $1 ORDER BY d.place
      RETURNING ${messageColumns})
    SELECT * FROM inserted ORDER BY id`,
};

const ADD_RUNTIME: Statement = {
  name: "message-add-runtime",
  text: `UPDATE chat_messages m SET runtime_ms = coalesce(m.runtime_ms, 0) + $3, revision = $4
    WHERE m.id = $2 AND m.chat_id = $1 RETURNING ${messageColumns}`,
};

const DELETE_FROM: Statement = {
  name: "messages-delete-from",
  text: `UPDATE chat_messages SET is_deleted = true, revision = $3
    WHERE chat_id = $1 AND id >= $2 AND NOT is_deleted
    AND EXISTS (SELECT 1 FROM chat_messages e WHERE e.id = $2 AND e.chat_id = $1 AND NOT e.is_deleted)
    RETURNING id`,
};

/** The message to edit was itself taken out of history meanwhile; the transaction must be undone. */
export class MessageGone extends Error {
  override readonly name = "MessageGone";
}

const ENQUEUE: Statement = {
  name: "queue-insert",
  text: `INSERT INTO chat_queued_messages
    (id, chat_id, author_id, model_config_id, reasoning_effort, content_version, content, created_at, mcp_server_ids,
      preview)
    VALUES ($1, $2, $3, $4, $5, ${CONTENT_VERSION}, $6, $7, $8, $9)`,
};

const PROMOTE: Statement = {
  name: "queue-promote",
  text: `WITH said AS (DELETE FROM chat_queued_messages WHERE id = $2 AND chat_id = $1 RETURNING *),
    followed AS (
      UPDATE chats c SET model_config_id = coalesce(said.model_config_id, c.model_config_id),
        mcp_server_ids = coalesce(said.mcp_server_ids, c.mcp_server_ids)
      FROM said
      WHERE c.id = $1 AND (said.model_config_id IS NOT NULL OR said.mcp_server_ids IS NOT NULL)),
    entered AS (
      INSERT INTO chat_messages AS m (chat_id, role, visibility, content_version, content, author_id, model_config_id,
        reasoning_effort, mcp_server_ids, revision, created_at)
      SELECT said.chat_id, 'user', 'both', said.content_version, said.content, said.author_id, said.model_config_id,
        said.reasoning_effort, coalesce(said.mcp_server_ids, c.mcp_server_ids), $3, $4
      FROM said JOIN chats c ON c.id = said.chat_id RETURNING ${messageColumns}),
    replayed AS (
      UPDATE idempotency_keys SET message_id = entered.id FROM entered WHERE queued_id = $2)
    SELECT * FROM entered`,
};

const DELETE_QUEUED: Statement = {
  name: "queue-delete",
  text: `DELETE FROM chat_queued_messages WHERE chat_id = $1 AND id = ANY ($2::uuid[])`,
};

const READ_QUEUE: Statement = {
  name: "queue-read",
  text: `SELECT ${queuedColumns} FROM chat_queued_messages q JOIN chats c ON c.id = q.chat_id
    WHERE q.chat_id = $1 ORDER BY array_position(c.queued_ids, q.id)`,
};

/** Encodes what people and models said, so that a transaction that writes it later holds its lock for less long. */
export function encodeAhead(commands: readonly Command[]): void {
  for (const command of commands) {
    if ("message" in command) listToJsonb(command.message.parts);
    if ("messages" in command) for (const { parts } of command.messages) listToJsonb(parts);
  }
}

/** Whether one statement can carry these writes: then a transition is one round trip without a lock. */
export function fitsOneStatement(writes: Write[]): boolean {
  const runtimes = writes.filter((write) => write.type === "add-runtime").length;
  const inserts = writes.filter((write) => write.type === "insert-messages").length;
  return runtimes + inserts === writes.length && (runtimes === 0 || (runtimes === 1 && inserts > 0));
}

/**
 * Writes a change whose writes fit one statement. Returns the inserted rows, or null when the chat has moved on
 * since `previous`; then nothing was written.
 */
export async function writeInOneStatement(
  queryable: Queryable,
  change: StateChange,
  writes: Write[],
): Promise<MessageRow[] | null> {
  const drafts = writes.flatMap((write) => (write.type === "insert-messages" ? write.messages : []));
  const values = stateValues(change, drafts);
  if (drafts.length === 0) return (await queryable.query(MOVE_ONLY, values)).length === 0 ? null : [];
  values.push(...draftValues(drafts));
  const timed = writes.find((write) => write.type === "add-runtime");
  if (timed) values.push(timed.messageId, Math.round(timed.runtimeMs));
  const statement = timed ? MOVE_INSERT_AND_ADD_RUNTIME : MOVE_AND_INSERT;
  const rows = await queryable.query<MessageDbRow>(statement, values);
  return rows.length === 0 ? null : rows.map(toMessageRow);
}

/** Writes any change inside a transaction that holds the chat's lock. Returns every row of history it wrote. */
export async function writeLocked(
  transaction: Queryable,
  change: StateChange,
  writes: Write[],
): Promise<MessageRow[]> {
  const moved = await transaction.query(MOVE_ONLY, stateValues(change, draftsOf(writes)));
  if (moved.length === 0) throw new Error(`Chat ${change.chatId} moved on while its row was locked.`);
  const written: MessageRow[] = [];
  for (const write of writes) written.push(...(await writeRows(transaction, change, write)));
  return written;
}

async function writeRows(transaction: Queryable, change: StateChange, write: Write): Promise<MessageRow[]> {
  const { chatId, next } = change;
  const now = new Date(change.now);
  const version = next.snapshotVersion;
  switch (write.type) {
    case "insert-messages":
      return insertMessages(transaction, { chatId, version, now }, write.messages);
    case "add-runtime": {
      const values = [chatId, write.messageId, Math.round(write.runtimeMs), version];
      return (await transaction.query<MessageDbRow>(ADD_RUNTIME, values)).map(toMessageRow);
    }
    case "delete-from":
      if ((await transaction.query(DELETE_FROM, [chatId, write.messageId, version])).length === 0) {
        throw new MessageGone(`Message ${write.messageId} is no longer in history.`);
      }
      return [];
    case "enqueue":
      await transaction.query(ENQUEUE, queuedValues(chatId, write.queuedId, write.message, now));
      return [];
    case "promote": {
      const rows = await transaction.query<MessageDbRow>(PROMOTE, [chatId, write.queuedId, version, now]);
      if (rows.length === 0) throw new Error(`Queued message ${write.queuedId} is listed but has no row.`);
      return rows.map(toMessageRow);
    }
    case "delete-queued":
      await transaction.query(DELETE_QUEUED, [chatId, write.queuedIds]);
      return [];
  }
}

/** Appends rows to a chat's history; for transitions and for the first messages of a new chat. */
export async function insertMessages(
  transaction: Queryable,
  place: { chatId: string; version: number; now: Date },
  drafts: MessageDraft[],
): Promise<MessageRow[]> {
  const values = [place.chatId, place.version, place.now, ...draftValues(drafts)];
  return (await transaction.query<MessageDbRow>(INSERT, values)).map(toMessageRow);
}

/** The queue in the order in which it will be said. */
export async function readQueue(queryable: Queryable, chatId: string): Promise<QueuedRow[]> {
  return (await queryable.query<QueuedDbRow>(READ_QUEUE, [chatId])).map(toQueuedRow);
}

function draftsOf(writes: Write[]): MessageDraft[] {
  return writes.flatMap((write) => (write.type === "insert-messages" ? write.messages : []));
}

function stateValues({ chatId, previous, next, now }: StateChange, drafts: MessageDraft[]): unknown[] {
  const model =
    drafts.findLast((draft) => draft.role === "user" && draft.modelConfigId)?.modelConfigId ?? null;
  const selection = drafts.findLast((draft) => draft.mcpServerIds)?.mcpServerIds ?? null;
  const isMoved =
    next.status !== previous.status && next.status !== "running" && next.status !== "interrupting";
  // Who takes a chat out of the archive wants it in sight, and not put away again for having been idle.
  const isActivity = isMoved || (previous.isArchived && !next.isArchived);
  return [
    chatId,
    previous.snapshotVersion,
    next.status,
    next.isArchived,
    new Date(now),
    next.workerId,
    next.runnerId,
    next.snapshotVersion,
    next.historyVersion,
    next.resetVersion,
    next.queueVersion,
    next.statusVersion,
    next.retryVersion,
    next.attempt,
    next.retry === null ? null : toJsonb(next.retry),
    next.lastError === null ? null : toJsonb(next.lastError),
    next.actionDeadlineAt === null ? null : new Date(next.actionDeadlineAt),
    next.compactionRequestedAt === null ? null : new Date(next.compactionRequestedAt),
    toJsonb(next.openCalls),
    next.queuedIds,
    next.titleVersion,
    next.title,
    next.titleSource,
    model,
    isActivity,
    selection,
    next.diffVersion,
    next.priorityIds,
    next.generationStartedAt === null ? null : new Date(next.generationStartedAt),
  ];
}

/** One array per column, in the order of `draftRows`. */
function draftValues(drafts: MessageDraft[]): unknown[] {
  const column = (pick: (draft: MessageDraft) => unknown) => drafts.map((draft) => pick(draft) ?? null);
  return [
    column((draft) => draft.role),
    column((draft) => draft.visibility),
    column((draft) => listToJsonb(draft.parts)),
    column((draft) => draft.authorId),
    column((draft) => draft.modelConfigId),
    column((draft) => draft.reasoningEffort),
    column((draft) => draft.usage?.inputTokens),
    column((draft) => draft.usage?.outputTokens),
    column((draft) => draft.usage?.reasoningTokens),
    column((draft) => draft.usage?.cacheReadTokens),
    column((draft) => draft.usage?.cacheWriteTokens),
    column((draft) => draft.costMicros?.toString()),
    column((draft) => (draft.runtimeMs == null ? null : Math.round(draft.runtimeMs))),
    column((draft) => draft.generation),
    column((draft) => draft.finishReason),
    column((draft) => draft.usage?.isEstimated ?? false),
    column((draft) => draft.responseId),
    column((draft) => draft.isSummary ?? false),
  ];
}

function queuedValues(chatId: string, queuedId: string, message: UserMessage, now: Date): unknown[] {
  const preview = previewOf(message.parts);
  return [
    queuedId,
    chatId,
    message.authorId,
    message.modelConfigId,
    message.reasoningEffort,
    listToJsonb(message.parts),
    now,
    message.mcpServerIds,
    preview.isCut ? listToJsonb(preview.parts) : null,
  ];
}
