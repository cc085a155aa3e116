/** Inserts a new chat with its first messages, and stores idempotency keys with the results of their requests. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatLabel, ChatState, ClientTool, MessageDraft } from "../../domain/chats/chat-state.js";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import type { SubagentKind } from "../../domain/chats/subagents.js";
import type { Queryable, Statement } from "../common/database.js";
import { Parameters, type WrittenColumn, writtenColumn } from "../common/entity-columns.js";
import { ChatEntity } from "./chat.entity.js";
import { PLAIN_STATE_PROPERTIES } from "./rows.js";
import { insertMessages } from "./insert-messages.js";

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
  /** Absent for a chat that a user starts; `state.isSubagent` is true with it. */
  family?: NewMember;
  state: ChatState;
  messages: MessageDraft[];
  /** Milliseconds since the epoch. */
  now: number;
};

const INSERT_CHAT = (() => {
  const parameters = new Parameters<NewChat>();
  const columns: WrittenColumn<NewChat>[] = [
    writtenColumn(ChatEntity, "id", ({ id }) => id),
    writtenColumn(ChatEntity, "ownerId", ({ ownerId }) => ownerId),
    writtenColumn(ChatEntity, "modelConfigId", ({ modelConfigId }) => modelConfigId),
    writtenColumn(ChatEntity, "workspaceId", ({ workspaceId }) => workspaceId),
    writtenColumn(ChatEntity, "reasoningEffort", ({ reasoningEffort }) => reasoningEffort),
    writtenColumn(ChatEntity, "clientTools", ({ clientTools }) => clientTools),
    writtenColumn(ChatEntity, "labels", ({ labels }) =>
      Object.fromEntries(labels.map(({ key, value }) => [key, value])),
    ),
    writtenColumn(ChatEntity, "mcpServerIds", ({ mcpServerIds }) => mcpServerIds),
    writtenColumn(ChatEntity, "parentChatId", ({ family }) => family?.parentChatId ?? null),
    writtenColumn(ChatEntity, "rootChatId", ({ family }) => family?.rootChatId ?? null),
    writtenColumn(ChatEntity, "subagentKind", ({ family }) => family?.kind ?? null),
    writtenColumn(ChatEntity, "depth", ({ family }) => family?.depth ?? 0),
    writtenColumn(ChatEntity, "createdAt", ({ now }) => now),
    writtenColumn(ChatEntity, "updatedAt", ({ now }) => now),
    ...PLAIN_STATE_PROPERTIES.map((property) =>
      writtenColumn(ChatEntity, property, ({ state }: NewChat) => state[property]),
    ),
  ];
  const text = `INSERT INTO chats ${parameters.row(columns)}`;
  return { parameters, statement: { name: "chat-insert", text } };
})();

export async function insertChat(transaction: Queryable, chat: NewChat): Promise<MessageRow[]> {
  await transaction.query(INSERT_CHAT.statement, INSERT_CHAT.parameters.valuesOf(chat));
  const { id: chatId, state, now } = chat;
  return insertMessages(transaction, { chatId, version: state.snapshotVersion, now }, chat.messages);
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
