/** Families of chats: who belongs to whom, held while a family changes, and a subagent as it stands at one moment. */
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { FamilyLink } from "../../domain/chats/family.js";
import type { MessageRole } from "../../domain/chats/message-parts.js";
import type { AgentSnapshot, Relative, SubagentKind } from "../../domain/chats/subagents.js";
import type { Queryable, Statement } from "../common/database.js";
import { chatStateColumns, toChatState, toParts, type ChatStateDbRow } from "./rows.js";

// Whoever changes a family, or adds to it, holds its root first: then nobody is added while others are counted.
const LOCK_ROOT: Statement = {
  name: "family-lock-root",
  text: `SELECT c.owner_id, c.id, c.parent_chat_id, ${chatStateColumns} FROM chats c
    WHERE c.id = (SELECT coalesce(root_chat_id, id) FROM chats WHERE id = $1) FOR UPDATE`,
};

// Index: chats_root_idx. One order for all, so that two never wait for each other.
const LOCK_MEMBERS: Statement = {
  name: "family-lock-members",
  text: `SELECT c.owner_id, c.id, c.parent_chat_id, ${chatStateColumns} FROM chats c
    WHERE c.root_chat_id = $1 ORDER BY c.id FOR UPDATE`,
};

/** A member whose row is held. */
export type LockedMember = FamilyLink & { ownerId: string; state: ChatState };

type MemberDbRow = ChatStateDbRow & { id: string; owner_id: string; parent_chat_id: string | null };

/** Holds the whole family of a chat until the transaction ends, its root first; empty when there is no such chat. */
export async function lockFamily(transaction: Queryable, chatId: string): Promise<LockedMember[]> {
  const [root] = await transaction.query<MemberDbRow>(LOCK_ROOT, [chatId]);
  if (!root) return [];
  const members = await transaction.query<MemberDbRow>(LOCK_MEMBERS, [root.id]);
  return [root, ...members].map((row) => ({
    chatId: row.id,
    parentId: row.parent_chat_id,
    ownerId: row.owner_id,
    state: toChatState(row),
  }));
}

/** Holds the root of a chat's family: nobody is added to the family, and none of it is stopped, until then. */
export async function lockFamilyRoot(transaction: Queryable, chatId: string): Promise<void> {
  await transaction.query(LOCK_ROOT, [chatId]);
}

// Index: chats_root_idx; for the root chats_pkey.
const RELATIVES: Statement = {
  name: "family-relatives",
  text: `SELECT c.id, c.parent_chat_id, c.title, c.subagent_kind, c.status, c.archived_at, c.runner_id, c.created_at
    FROM chats c WHERE c.id = $1 OR c.root_chat_id = $1 ORDER BY c.created_at, c.id`,
};

/** `createdAt`: milliseconds since the epoch. */
export type Kin = Relative & { title: string; kind: SubagentKind | null; createdAt: number };

/** The root and all below it, in the order in which they came. */
export async function readFamily(db: Queryable, rootChatId: string): Promise<Kin[]> {
  type Row = Pick<ChatStateDbRow, "title" | "status" | "archived_at" | "runner_id"> & {
    id: string;
    parent_chat_id: string | null;
    subagent_kind: SubagentKind | null;
    created_at: Date;
  };
  const rows = await db.query<Row>(RELATIVES, [rootChatId]);
  return rows.map((row) => ({
    chatId: row.id,
    parentId: row.parent_chat_id,
    title: row.title,
    kind: row.subagent_kind,
    status: row.status,
    isArchived: row.archived_at !== null,
    runnerId: row.runner_id,
    createdAt: row.created_at.getTime(),
  }));
}

// A person who is being deactivated is waited for: either their turns are stopped after this, or this is not done.
const HOLD_OWNER: Statement = {
  name: "family-hold-owner",
  text: "SELECT deactivated_at IS NULL AS is_active FROM users WHERE id = $1 FOR KEY SHARE",
};

/** Whether the person may have anything new done; stays so until the transaction ends. */
export async function lockActiveOwner(transaction: Queryable, ownerId: string): Promise<boolean> {
  const [row] = await transaction.query<{ is_active: boolean }>(HOLD_OWNER, [ownerId]);
  return row?.is_active ?? false;
}

// One statement, so that state and message are of one moment. Index: chat_messages_history_idx.
const AGENT: Statement = {
  name: "family-agent",
  text: `SELECT c.id, c.subagent_kind, ${chatStateColumns}, m.role, m.content_version, m.content
    FROM chats c LEFT JOIN LATERAL (
      SELECT m.role, m.content_version, m.content FROM chat_messages m
      WHERE m.chat_id = c.id AND NOT m.is_deleted AND m.visibility = 'both' ORDER BY m.id DESC LIMIT 1) m ON true
    WHERE c.id = $1`,
};

export type AgentRecord = AgentSnapshot & { chatId: string; title: string; kind: SubagentKind | null };

/** Null when there is no such chat. */
export async function readAgent(db: Queryable, chatId: string): Promise<AgentRecord | null> {
  type Last = { role: MessageRole; content_version: number; content: unknown };
  type Row = ChatStateDbRow & { id: string; subagent_kind: SubagentKind | null } & (
      Last | { [Field in keyof Last]: null }
    );
  const [row] = await db.query<Row>(AGENT, [chatId]);
  if (!row) return null;
  const state = toChatState(row);
  const last = row.role === null ? null : { role: row.role, parts: toParts(row.role, row) };
  return { chatId: row.id, title: state.title, kind: row.subagent_kind, state, last };
}
