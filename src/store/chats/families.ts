/** Families of chats: a root with its subagents, locked while the family changes, and reads of subagents. */
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { FamilyLink } from "../../domain/chats/family.js";
import type { SubagentSnapshot, Relative, SubagentKind } from "../../domain/chats/subagents.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import type { ChatMessageEntity } from "./chat-message.entity.js";
import { ChatEntity } from "./chat.entity.js";
import { chatStateColumns, toChatState, toParts, type ChatStateDbRow } from "./rows.js";

const MEMBER_COLUMNS = `c.id, c.owner_id AS "ownerId", ${chatStateColumns}`;
type MemberDbRow = ChatStateDbRow & Pick<ChatEntity, "id" | "ownerId" | "parentChatId">;

// A transaction that changes a family locks its root first, so that no member is added while others are counted.
const LOCK_ROOT: Statement = {
  name: "family-lock-root",
  text: `SELECT ${MEMBER_COLUMNS} FROM chats c
    WHERE c.id = (SELECT coalesce(root_chat_id, id) FROM chats WHERE id = $1) FOR UPDATE`,
};

// Index: chats_root_idx. Always in the same order, which avoids deadlocks.
const LOCK_MEMBERS: Statement = {
  name: "family-lock-members",
  text: `SELECT ${MEMBER_COLUMNS} FROM chats c
    WHERE c.root_chat_id = $1 ORDER BY c.id FOR UPDATE`,
};

/** A member whose row is locked. */
export type LockedMember = FamilyLink & { ownerId: string; state: ChatState };

/** Locks the family of a chat until the transaction ends, its root first; empty when there is no such chat. */
export async function lockFamily(transaction: Queryable, chatId: string): Promise<LockedMember[]> {
  const [root] = await transaction.query<MemberDbRow>(LOCK_ROOT, [chatId]);
  if (!root) return [];
  const members = await transaction.query<MemberDbRow>(LOCK_MEMBERS, [root.id]);
  return [root, ...members].map((row) => ({
    chatId: row.id,
    parentId: row.parentChatId,
    ownerId: row.ownerId,
    state: toChatState(row),
  }));
}

/** Locks the root of a chat's family until the transaction ends: no member is added or stopped meanwhile. */
export async function lockFamilyRoot(transaction: Queryable, chatId: string): Promise<void> {
  await transaction.query(LOCK_ROOT, [chatId]);
}

const relative = selectionOf(ChatEntity, "c", [
  ...([
    "id",
    "parentChatId",
    "title",
    "subagentKind",
    "status",
    "archivedAt",
    "runnerId",
    "createdAt",
  ] as const),
]);

// Index: chats_root_idx; for the root chats_pkey.
const RELATIVES: Statement = {
  name: "family-relatives",
  text: `SELECT ${relative.columns}
    FROM chats c WHERE c.id = $1 OR c.root_chat_id = $1 ORDER BY c.created_at, c.id`,
};

/** `createdAt`: milliseconds since the epoch. */
export type Kin = Relative & { title: string; kind: SubagentKind | null; createdAt: number };

/** The root and all its descendants, oldest first. */
export async function readFamily(db: Queryable, rootChatId: string): Promise<Kin[]> {
  type Row = Selected<ReturnType<(typeof relative)["read"]>>;
  return (await db.query<Row>(RELATIVES, [rootChatId])).map((row) => {
    const { id, parentChatId, title, subagentKind, status, archivedAt, runnerId, createdAt } =
      relative.read(row);
    return {
      chatId: id,
      parentId: parentChatId,
      title,
      kind: subagentKind,
      status,
      isArchived: archivedAt !== null,
      runnerId,
      createdAt,
    };
  });
}

// Waits for a deactivation of the user: either it stops their turns after this, or this is refused.
const LOCK_OWNER: Statement = {
  name: "family-lock-owner",
  text: "SELECT deactivated_at IS NULL AS is_active FROM users WHERE id = $1 FOR KEY SHARE",
};

/** Whether the user is active; they stay so until the transaction ends. */
export async function lockActiveOwner(transaction: Queryable, ownerId: string): Promise<boolean> {
  const [row] = await transaction.query<{ is_active: boolean }>(LOCK_OWNER, [ownerId]);
  return row?.is_active ?? false;
}

// One statement, so that state and message are of one snapshot. Index: chat_messages_history_idx.
const AGENT: Statement = {
  name: "family-agent",
  text: `SELECT c.id, c.subagent_kind AS "subagentKind", ${chatStateColumns}, m.role,
      m.content_version AS "contentVersion", m.content
    FROM chats c LEFT JOIN LATERAL (
      SELECT m.role, m.content_version, m.content FROM chat_messages m
      WHERE m.chat_id = c.id AND NOT m.is_deleted AND m.visibility = 'both' ORDER BY m.id DESC LIMIT 1) m ON true
    WHERE c.id = $1`,
};

export type AgentRecord = SubagentSnapshot & { chatId: string; title: string; kind: SubagentKind | null };

/** Null when there is no such chat. */
export async function readAgent(db: Queryable, chatId: string): Promise<AgentRecord | null> {
  type Last = Pick<ChatMessageEntity, "role" | "contentVersion" | "content">;
  type Row = ChatStateDbRow &
    Pick<ChatEntity, "id" | "subagentKind"> &
    (Last | { [Property in keyof Last]: null });
  const [row] = await db.query<Row>(AGENT, [chatId]);
  if (!row) return null;
  const state = toChatState(row);
  const last = row.role === null ? null : { role: row.role, parts: toParts(row.role, row) };
  return { chatId: row.id, title: state.title, kind: row.subagentKind, state, last };
}
