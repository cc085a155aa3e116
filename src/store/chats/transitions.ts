/**
 * The SQL of transitions: the only statements that write a chat's execution state, its history and its queue. What to
 * write is decided in src/domain/chats/chat-lifecycle.ts.
 */
import type { MessageRow, QueuedRow } from "../../domain/chats/chat-events.js";
import type { ChatState, MessageDraft } from "../../domain/chats/chat-state.js";
import type { AddedRuntime, Command, Write } from "../../domain/chats/transition.js";
import type { Queryable, Statement } from "../common/database.js";
import { Parameters, writtenColumn } from "../common/entity-columns.js";
import { listToJsonb } from "../common/jsonb-text.js";
import { ChatEntity } from "./chat.entity.js";
import { enqueue, insertMessages, insertOf } from "./insert-messages.js";
import {
  chatStateColumns,
  messageColumns,
  type Owned,
  PLAIN_STATE_PROPERTIES,
  queuedColumns,
  toChatState,
  toMessageRow,
  toQueuedRow,
  type ChatStateDbRow,
  type MessageDbRow,
  type QueuedDbRow,
} from "./rows.js";

/** A guarded change of state: nothing is written unless the row is still at `previous`. `now`: milliseconds since the epoch. */
export type StateChange = { chatId: string; previous: ChatState; next: ChatState; now: number };

const LOCK: Statement = {
  name: "chat-lock",
  text: `SELECT c.owner_id AS "ownerId", ${chatStateColumns} FROM chats c WHERE c.id = $1 FOR UPDATE`,
};

/** Locks the chat's row until the transaction ends. Null when there is no such chat. */
export async function lockChat(
  transaction: Queryable,
  chatId: string,
): Promise<{ ownerId: string; state: ChatState } | null> {
  const [row] = await transaction.query<ChatStateDbRow & Owned>(LOCK, [chatId]);
  return row ? { ownerId: row.ownerId, state: toChatState(row) } : null;
}

/** A transition that one statement writes. */
type Written = StateChange & { drafts: MessageDraft[]; addedRuntime: AddedRuntime | null };

/** A value of the moment of writing, for parameters that are no column of their own. */
const versionOf = writtenColumn(ChatEntity, "snapshotVersion", ({ next }: Written) => next.snapshotVersion);
const timeOf = writtenColumn(ChatEntity, "updatedAt", ({ now }: Written) => now);

/** State columns that are set to what the next state has; `snapshot_version` is a parameter of its own. */
const PLAIN_STATE = PLAIN_STATE_PROPERTIES.filter((property) => property !== "snapshotVersion").map(
  (property) => writtenColumn(ChatEntity, property, ({ next }: Written) => next[property]),
);

/** The guarded update of a chat's row, with the parameters that inserted messages share with it. */
function moveOf(parameters: Parameters<Written>): { text: string; version: string; now: string } {
  const chat = parameters.add(writtenColumn(ChatEntity, "id", ({ chatId }: Written) => chatId));
  const previous = parameters.add({
    ...versionOf,
    value: ({ previous: { snapshotVersion } }) => snapshotVersion,
  });
  const version = parameters.add(versionOf);
  const now = parameters.add(timeOf);
  const isArchived = parameters.add({ type: "boolean", value: ({ next }) => next.isArchived });
  const isActivity = parameters.add({ type: "boolean", value: isActivityOf });
  const model = parameters.add(writtenColumn(ChatEntity, "modelConfigId", chosenModel));
  const servers = parameters.add({ type: "uuid[]", value: chosenServers });
  const text = `UPDATE chats c SET snapshot_version = ${version}, ${parameters.assignments(PLAIN_STATE)},
  archived_at = CASE WHEN ${isArchived} THEN coalesce(c.archived_at, ${now}) END,
  model_config_id = coalesce(${model}, c.model_config_id), mcp_server_ids = coalesce(${servers}, c.mcp_server_ids),
  updated_at = CASE WHEN ${isActivity} THEN ${now} ELSE c.updated_at END
  WHERE c.id = ${chat} AND c.snapshot_version = ${previous}`;
  return { text, version, now };
}

type TransitionStatement = { statement: Statement; parameters: Parameters<Written> };

const MOVE = ((): TransitionStatement => {
  const parameters = new Parameters<Written>();
  const text = `${moveOf(parameters).text} RETURNING NULL AS id`;
  return { parameters, statement: { name: "chat-move", text } };
})();

const MOVE_AND_INSERT = ((): TransitionStatement => {
  const parameters = new Parameters<Written>();
  const move = moveOf(parameters);
  const text = `WITH moved AS (${move.text} RETURNING c.id, c.mcp_server_ids),
    inserted AS (${insertOf({ ...move, parameters, chat: "moved", draftsOf: ({ drafts }) => drafts })})
    SELECT * FROM inserted ORDER BY id`;
  return { parameters, statement: { name: "chat-move-insert", text } };
})();

const MOVE_INSERT_AND_ADD_RUNTIME = ((): TransitionStatement => {
  const parameters = new Parameters<Written>();
  const move = moveOf(parameters);
  const message = parameters.add({ type: "bigint", value: ({ addedRuntime }) => addedRuntime?.messageId });
  const added = parameters.add({
    type: "integer",
    value: ({ addedRuntime }) => Math.round(addedRuntime?.runtimeMs ?? 0),
  });
  const text = `WITH moved AS (${move.text} RETURNING c.id, c.mcp_server_ids),
    timed AS (
      UPDATE chat_messages m SET runtime_ms = coalesce(m.runtime_ms, 0) + ${added}, revision = ${move.version}
      FROM moved WHERE m.id = ${message} AND m.chat_id = moved.id RETURNING ${messageColumns}),
    inserted AS (${insertOf({ ...move, parameters, chat: "moved", draftsOf: ({ drafts }) => drafts })})
    SELECT * FROM timed UNION ALL SELECT * FROM inserted ORDER BY id`;
  return { parameters, statement: { name: "chat-move-insert-runtime", text } };
})();

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

/** The message to edit has been deleted from history meanwhile; the transaction must be rolled back. */
export class MessageGone extends Error {
  override readonly name = "MessageGone";
}

const PROMOTE: Statement = {
  name: "queue-promote",
  text: `WITH promoted AS (DELETE FROM chat_queued_messages WHERE id = $2 AND chat_id = $1 RETURNING *),
    followed AS (
      UPDATE chats c SET model_config_id = coalesce(promoted.model_config_id, c.model_config_id),
        mcp_server_ids = coalesce(promoted.mcp_server_ids, c.mcp_server_ids)
      FROM promoted
      WHERE c.id = $1 AND (promoted.model_config_id IS NOT NULL OR promoted.mcp_server_ids IS NOT NULL)),
    entered AS (
      INSERT INTO chat_messages AS m (chat_id, role, visibility, content_version, content, author_id, model_config_id,
        reasoning_effort, mcp_server_ids, revision, created_at)
      SELECT promoted.chat_id, 'user', 'both', promoted.content_version, promoted.content, promoted.author_id, promoted.model_config_id,
        promoted.reasoning_effort, coalesce(promoted.mcp_server_ids, c.mcp_server_ids), $3, $4
      FROM promoted JOIN chats c ON c.id = promoted.chat_id RETURNING ${messageColumns}),
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

/** Encodes message contents before a transaction, which then holds its lock for a shorter time. */
export function encodeAhead(commands: readonly Command[]): void {
  for (const command of commands) {
    if ("message" in command) listToJsonb(command.message.parts);
    if ("messages" in command) for (const { parts } of command.messages) listToJsonb(parts);
  }
}

/** Whether one statement can make these writes: then a transition is one round trip without a lock. */
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
  const drafts = draftsOf(writes);
  const addedRuntime = writes.find((write) => write.type === "add-runtime") ?? null;
  const written: Written = { drafts, addedRuntime, ...change };
  if (drafts.length === 0) return (await run(queryable, MOVE, written)).length === 0 ? null : [];
  const rows = await run(queryable, addedRuntime ? MOVE_INSERT_AND_ADD_RUNTIME : MOVE_AND_INSERT, written);
  return rows.length === 0 ? null : rows.map(toMessageRow);
}

/** Writes any change inside a transaction that has locked the chat. Returns every row of history it wrote. */
export async function writeLocked(
  transaction: Queryable,
  change: StateChange,
  writes: Write[],
): Promise<MessageRow[]> {
  const moved = await run(transaction, MOVE, { drafts: draftsOf(writes), addedRuntime: null, ...change });
  if (moved.length === 0) throw new Error(`Chat ${change.chatId} moved on while its row was locked.`);
  const written: MessageRow[] = [];
  for (const write of writes) written.push(...(await writeRows(transaction, change, write)));
  return written;
}

function run(
  queryable: Queryable,
  { statement, parameters }: TransitionStatement,
  written: Written,
): Promise<MessageDbRow[]> {
  return queryable.query<MessageDbRow>(statement, parameters.valuesOf(written));
}

async function writeRows(transaction: Queryable, change: StateChange, write: Write): Promise<MessageRow[]> {
  const { chatId, next, now } = change;
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
      await enqueue(transaction, { chatId, ...write, now });
      return [];
    case "promote": {
      const rows = await transaction.query<MessageDbRow>(PROMOTE, [
        chatId,
        write.queuedId,
        version,
        new Date(now),
      ]);
      if (rows.length === 0) throw new Error(`Queued message ${write.queuedId} is listed but has no row.`);
      return rows.map(toMessageRow);
    }
    case "delete-queued":
      await transaction.query(DELETE_QUEUED, [chatId, write.queuedIds]);
      return [];
  }
}

/** The queue in the order of sending. */
export async function readQueue(queryable: Queryable, chatId: string): Promise<QueuedRow[]> {
  return (await queryable.query<QueuedDbRow>(READ_QUEUE, [chatId])).map(toQueuedRow);
}

function draftsOf(writes: Write[]): MessageDraft[] {
  return writes.flatMap((write) => (write.type === "insert-messages" ? write.messages : []));
}

/** A change that moves the chat in lists: unarchiving does, so that the chat is not archived again for being idle. */
function isActivityOf({ previous, next }: StateChange): boolean {
  const isMoved =
    next.status !== previous.status && next.status !== "running" && next.status !== "interrupting";
  return isMoved || (previous.isArchived && !next.isArchived);
}

/** The model that the newest of the messages chooses; null = the chat's stays. */
function chosenModel({ drafts }: Written): string | null {
  return drafts.findLast((draft) => draft.role === "user" && draft.modelConfigId)?.modelConfigId ?? null;
}

function chosenServers({ drafts }: Written): string[] | null {
  return drafts.findLast((draft) => draft.mcpServerIds)?.mcpServerIds ?? null;
}
