/** Reading chats as their owner or an admin may see them. Execution state is written elsewhere, by transitions. */
import type { ChatState, ChatStatus, ClientTool } from "../../domain/chats/chat-state.js";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import type { SubagentKind } from "../../domain/chats/subagents.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { fromJsonb, toJsonb } from "../common/jsonb-text.js";
import {
  GREATEST_UUID,
  LEAST_UUID,
  type Page,
  type PageRequest,
  containing,
  microsOf,
  timestampOf,
  toPage,
} from "../common/pages.js";
import { type ChatStateDbRow, chatStateColumns, toChatState } from "./rows.js";
import { isUnreadSql } from "./unread.js";

/** A chat whole: metadata and execution state. Times in milliseconds since the epoch. */
export type ChatRecord = {
  id: string;
  ownerId: string;
  /** Null = the deployment's default at the time of each turn. */
  modelConfigId: string | null;
  workspaceId: string | null;
  reasoningEffort: ReasoningEffort | null;
  /** Tools that the client runs. */
  clientTools: ClientTool[];
  /** The selected tool servers; ids of those that are gone count for nothing. */
  mcpServerIds: string[];
  /** The chat whose agent started this one; null = a person did, then `subagentKind` is null too. */
  parentChatId: string | null;
  /** The chat of the family that a person started; the chat itself if it is that one. */
  rootChatId: string;
  subagentKind: SubagentKind | null;
  labels: Record<string, string>;
  archivedAt: number | null;
  createdAt: number;
  updatedAt: number;
  state: ChatState;
};

type ChatDbRow = ChatStateDbRow & {
  id: string;
  owner_id: string;
  model_config_id: string | null;
  workspace_id: string | null;
  reasoning_effort: ReasoningEffort | null;
  client_tools: ClientTool[];
  mcp_server_ids: string[];
  parent_chat_id: string | null;
  root_chat_id: string;
  subagent_kind: SubagentKind | null;
  labels: Record<string, string>;
  created_at: Date;
  updated_at: Date;
};

/** For `SELECT`s and `RETURNING`s that end in `toChatRecord`; the table's alias is `c`. */
export const chatColumns = `c.id, c.owner_id, c.model_config_id, c.workspace_id, c.reasoning_effort,
  c.client_tools, c.mcp_server_ids, c.parent_chat_id, coalesce(c.root_chat_id, c.id) AS root_chat_id,
  c.subagent_kind, c.labels, c.created_at, c.updated_at, ${chatStateColumns}`;

export function toChatRecord(row: ChatDbRow): ChatRecord {
  return {
    id: row.id,
    ownerId: row.owner_id,
    modelConfigId: row.model_config_id,
    workspaceId: row.workspace_id,
    reasoningEffort: row.reasoning_effort,
    clientTools: fromJsonb(row.client_tools),
    mcpServerIds: row.mcp_server_ids,
    parentChatId: row.parent_chat_id,
    rootChatId: row.root_chat_id,
    subagentKind: row.subagent_kind,
    labels: fromJsonb(row.labels),
    archivedAt: row.archived_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    state: toChatState(row),
  };
}

const FIND: Statement = {
  name: "chats.find",
  text: `SELECT ${chatColumns} FROM chats c WHERE c.id = ANY($1::uuid[]) AND (c.owner_id = $2 OR $3)`,
};

/** Those of the chats that exist and that the viewer owns or may see as an admin, in no order. */
export async function findChats(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<ChatRecord[]> {
  const rows = await db.query<ChatDbRow>(FIND, [ids, viewer.userId, viewer.role === "admin"]);
  return rows.map(toChatRecord);
}

/** Null when there is no such chat or the viewer may not see it. */
export async function findChat(db: Queryable, viewer: Viewer, id: string): Promise<ChatRecord | null> {
  const [found] = await findChats(db, viewer, [id]);
  return found ?? null;
}

/** Newest first by the last change or by creation. */
export type ChatOrder = "updated" | "created";

/** Absent or null filters let everything through. */
export type ChatFilter = {
  /** Whose chats; the viewer's own when absent. Other people's chats are found for admins only. */
  ownerId?: string | null;
  archived?: boolean | null;
  /** Part of the title, in any case. */
  search?: string | null;
  workspaceId?: string | null;
  statuses?: ChatStatus[] | null;
  /** Whether there is an answer that the owner has not seen. */
  isUnread?: boolean | null;
  /** Chats that agents started as well; only those of people when absent. */
  includeSubagents?: boolean | null;
  /** All of these must be on the chat. */
  labels?: Record<string, string>;
};

/** One text per order and direction. Runs on chats_owner_updated_idx or chats_owner_created_idx. */
function listStatement(order: ChatOrder, direction: PageRequest["direction"]): Statement {
  const column = order === "updated" ? "c.updated_at" : "c.created_at";
  const sort = direction === "forwards" ? "DESC" : "ASC";
  return {
    name: `chats.list.${order}.${direction}`,
    text: `
      SELECT ${chatColumns}, ${microsOf(column)} AS place
      FROM chats c
      WHERE c.owner_id = $1 AND (c.owner_id = $2 OR $3)
        AND ($4::boolean IS NULL OR (c.archived_at IS NOT NULL) = $4)
        AND ($5::text IS NULL OR c.title ILIKE $5)
        AND ($6::uuid IS NULL OR c.workspace_id = $6)
        AND ($7::chat_status[] IS NULL OR c.status = ANY($7))
        AND c.labels @> $8::jsonb
        AND ($15::boolean OR c.parent_chat_id IS NULL)
        AND ($14::boolean IS NULL OR ${isUnreadSql} = $14)
        AND (${column}, c.id) < (${timestampOf("$9", "infinity")}, coalesce($10::uuid, '${GREATEST_UUID}'))
        AND (${column}, c.id) > (${timestampOf("$11", "-infinity")}, coalesce($12::uuid, '${LEAST_UUID}'))
      ORDER BY ${column} ${sort}, c.id ${sort}
      LIMIT $13`,
  };
}

const LIST = {
  updated: {
    forwards: listStatement("updated", "forwards"),
    backwards: listStatement("updated", "backwards"),
  },
  created: {
    forwards: listStatement("created", "forwards"),
    backwards: listStatement("created", "backwards"),
  },
};

/** One person's chats, newest first. */
export async function listChats(
  db: Queryable,
  viewer: Viewer,
  filter: ChatFilter & { order: ChatOrder },
  page: PageRequest,
): Promise<Page<ChatRecord>> {
  const rows = await db.query<ChatDbRow & { place: string }>(LIST[filter.order][page.direction], [
    filter.ownerId ?? viewer.userId,
    viewer.userId,
    viewer.role === "admin",
    filter.archived ?? null,
    filter.search ? containing(filter.search) : null,
    filter.workspaceId ?? null,
    filter.statuses ?? null,
    toJsonb(filter.labels ?? {}),
    page.after?.key ?? null,
    page.after?.id ?? null,
    page.before?.key ?? null,
    page.before?.id ?? null,
    page.limit + 1,
    filter.isUnread ?? null,
    filter.includeSubagents ?? false,
  ]);
  return toPage(
    page,
    rows.map((row) => ({ place: { key: row.place, id: row.id }, row: toChatRecord(row) })),
  );
}

// Index: chats_parent_idx.
const CHILDREN: Statement = {
  name: "chats.children",
  text: `SELECT ${chatColumns} FROM chats c
    WHERE c.parent_chat_id = ANY ($1::uuid[]) AND (c.owner_id = $2 OR $3) ORDER BY c.created_at, c.id`,
};

/** The subagents that each of the chats' agents started, the oldest first; those that the viewer may see. */
export async function findSubagents(
  db: Queryable,
  viewer: Viewer,
  parentIds: readonly string[],
): Promise<ChatRecord[]> {
  const rows = await db.query<ChatDbRow>(CHILDREN, [parentIds, viewer.userId, viewer.role === "admin"]);
  return rows.map(toChatRecord);
}
