/** Writes a new chat with its first messages, and remembers which request made what, so that a repeat gets the same. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatLabel, ChatState, ClientTool, MessageDraft } from "../../domain/chats/chat-state.js";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import type { SubagentKind } from "../../domain/chats/subagents.js";
import type { Queryable, Statement } from "../common/database.js";
import { toJsonb } from "../common/jsonb-text.js";
import { insertMessages } from "./transitions.js";

/** Where a new subagent belongs. */
export type NewMember = { parentChatId: string; rootChatId: string; kind: SubagentKind; depth: number };

export type NewChat = {
  id: string;
  ownerId: string;
  modelConfigId: string;
  workspaceId: string | null;
  reasoningEffort: ReasoningEffort | null;
  clientTools: ClientTool[];
  labels: ChatLabel[];
  mcpServerIds: string[];
  /** Absent for a chat that a person starts; `state.isSubagent` is true with it. */
  family?: NewMember;
  state: ChatState;
  messages: MessageDraft[];
  /** Milliseconds since the epoch. */
  now: number;
};

const INSERT_CHAT: Statement = {
  name: "chat-insert",
  text: `INSERT INTO chats (id, owner_id, title, title_source, model_config_id, workspace_id, reasoning_effort, client_tools, labels,
      created_at, updated_at, status, snapshot_version, history_version, reset_version, queue_version, status_version,
      retry_version, attempt, mcp_server_ids, parent_chat_id, root_chat_id, subagent_kind, depth)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
      $23)`,
};

export async function insertChat(transaction: Queryable, chat: NewChat): Promise<MessageRow[]> {
  const { state, family } = chat;
  const now = new Date(chat.now);
  await transaction.query(INSERT_CHAT, [
    chat.id,
    chat.ownerId,
    state.title,
    state.titleSource,
    chat.modelConfigId,
    chat.workspaceId,
    chat.reasoningEffort,
    toJsonb(chat.clientTools),
    toJsonb(Object.fromEntries(chat.labels.map(({ key, value }) => [key, value]))),
    now,
    state.status,
    state.snapshotVersion,
    state.historyVersion,
    state.resetVersion,
    state.queueVersion,
    state.statusVersion,
    state.retryVersion,
    state.attempt,
    chat.mcpServerIds,
    family?.parentChatId ?? null,
    family?.rootChatId ?? null,
    family?.kind ?? null,
    family?.depth ?? 0,
  ]);
  return insertMessages(transaction, { chatId: chat.id, version: state.snapshotVersion, now }, chat.messages);
}

/** What a request with an idempotency key made. `version` is the chat's snapshot at which it is visible. */
export type RememberedRequest = {
  chatId: string;
  messageId: string | null;
  queuedId: string | null;
  version: number;
};

const REMEMBER: Statement = {
  name: "idempotency-remember",
  text: `INSERT INTO idempotency_keys (user_id, key, chat_id, message_id, queued_id, version)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING key`,
};

const RECALL: Statement = {
  name: "idempotency-recall",
  text: `SELECT chat_id, message_id, queued_id, version FROM idempotency_keys WHERE user_id = $1 AND key = $2`,
};

/** The same key was used by a request that committed first; this one must be undone and answered like that one. */
export class KeyAlreadyUsed extends Error {
  override readonly name = "KeyAlreadyUsed";
}

/** Throws `KeyAlreadyUsed`. */
export async function rememberRequest(
  transaction: Queryable,
  owner: { userId: string; key: string },
  made: RememberedRequest,
): Promise<void> {
  const values = [owner.userId, owner.key, made.chatId, made.messageId, made.queuedId, made.version];
  const rows = await transaction.query(REMEMBER, values);
  if (rows.length === 0) throw new KeyAlreadyUsed(`The idempotency key was used before.`);
}

export async function recallRequest(
  queryable: Queryable,
  owner: { userId: string; key: string },
): Promise<RememberedRequest | null> {
  type Row = { chat_id: string; message_id: string | null; queued_id: string | null; version: string };
  const [row] = await queryable.query<Row>(RECALL, [owner.userId, owner.key]);
  if (!row) return null;
  return {
    chatId: row.chat_id,
    messageId: row.message_id,
    queuedId: row.queued_id,
    version: Number(row.version),
  };
}
