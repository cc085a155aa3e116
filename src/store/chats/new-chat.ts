/** Inserts a new chat with its first messages, and stores idempotency keys with the results of their requests. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ChatLabel, ChatState, MessageDraft } from "../../domain/chats/chat-state.js";
import type { SubagentKind } from "../../domain/chats/subagents.js";
import type { Queryable, Statement } from "../common/database.js";
import {
  Parameters,
  type Selected,
  selectionOf,
  type WrittenColumn,
  writtenColumn,
  writtenColumns,
} from "../common/entity-columns.js";
import { ChatEntity } from "./chat.entity.js";
import { IdempotencyKeyEntity } from "./idempotency-key.entity.js";
import { PLAIN_STATE_PROPERTIES } from "./rows.js";
import { insertMessages } from "./insert-messages.js";

/** Where a new subagent belongs. */
export type NewMember = { parentChatId: string; rootChatId: string; kind: SubagentKind; depth: number };

const GIVEN = [
  ...(["id", "ownerId", "modelConfigId", "workspaceId", "reasoningEffort", "clientTools"] as const),
  "mcpServerIds",
] as const;

export type NewChat = Pick<ChatEntity, (typeof GIVEN)[number]> & {
  labels: ChatLabel[];
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
    ...writtenColumns(ChatEntity, GIVEN),
    writtenColumn(ChatEntity, "labels", ({ labels }) =>
      Object.fromEntries(labels.map(({ key, value }) => [key, value])),
    ),
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

const made = selectionOf(IdempotencyKeyEntity, "", ["chatId", "messageId", "queuedId", "version"]);

/** What a request with an idempotency key made. */
export type RememberedRequest = ReturnType<(typeof made)["read"]>;

const REMEMBER: Statement = {
  name: "idempotency-remember",
  text: `INSERT INTO idempotency_keys (user_id, key, chat_id, message_id, queued_id, version)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING key`,
};

const RECALL: Statement = {
  name: "idempotency-recall",
  text: `SELECT ${made.columns} FROM idempotency_keys WHERE user_id = $1 AND key = $2`,
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
  const [row] = await queryable.query<Selected<RememberedRequest>>(RECALL, [owner.userId, owner.key]);
  return row ? made.read(row) : null;
}
