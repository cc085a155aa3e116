/** Reads of chats as their owner or an admin may see them. */
import type { ChatState, ChatStatus } from "../../domain/chats/chat-state.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { toJsonb } from "../common/jsonb-text.js";
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
import { ChatEntity } from "./chat.entity.js";
import { type ChatStateDbRow, STATE_PROPERTIES, toChatState } from "./rows.js";
import { isUnreadSql } from "./unread.js";

const METADATA = [
  ...(["id", "ownerId", "modelConfigId", "workspaceId", "reasoningEffort", "clientTools"] as const),
  ...(["mcpServerIds", "parentChatId", "subagentKind", "labels"] as const),
  ...(["archivedAt", "createdAt", "updatedAt"] as const),
] as const;

const metadata = selectionOf(ChatEntity, "c", METADATA);

/** A chat's metadata and execution state. Times in milliseconds since the epoch. */
export type ChatRecord = ReturnType<(typeof metadata)["read"]> & {
  /** The chat of the family that a user started; the chat itself if it is that one. */
  rootChatId: string;
  state: ChatState;
};

type ChatDbRow = Selected<ReturnType<(typeof metadata)["read"]>> &
  ChatStateDbRow &
  Pick<ChatEntity, "id" | "rootChatId">;

/** For statements whose rows go to `toChatRecord`; the table's alias is `c`. */
const chatColumns = selectionOf(ChatEntity, "c", [
  ...new Set([...METADATA, "rootChatId" as const, ...STATE_PROPERTIES]),
]).columns;

const toChatRecord: (row: ChatDbRow) => ChatRecord = metadata.readWith({
  rootChatId: ({ id, rootChatId }: ChatDbRow) => rootChatId ?? id,
  state: (row: ChatDbRow) => toChatState(row),
});

const FIND: Statement = {
  name: "chats.find",
  text: `SELECT ${chatColumns} FROM chats c WHERE c.id = ANY($1::uuid[]) AND (c.owner_id = $2 OR $3)`,
};

/** The chats that exist and that the viewer may see, as owner or admin; in no order. */
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
  /** Whose chats; the viewer's own when absent. Other users' chats are found for admins only. */
  ownerId?: string | null;
  archived?: boolean | null;
  /** Part of the title, in any case. */
  search?: string | null;
  workspaceId?: string | null;
  statuses?: ChatStatus[] | null;
  /** Whether there is an answer that the owner has not seen. */
  isUnread?: boolean | null;
  /** Whether chats that agents started are included; false when absent. */
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
      SELECT ${chatColumns}, ${microsOf(column)} AS "sortKey"
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

/** A user's chats, newest first. */
export async function listChats(
  db: Queryable,
  viewer: Viewer,
  filter: ChatFilter & { order: ChatOrder },
  page: PageRequest,
): Promise<Page<ChatRecord>> {
  const rows = await db.query<ChatDbRow & { id: string; sortKey: string }>(
    LIST[filter.order][page.direction],
    [
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
    ],
  );
  return toPage(
    page,
    rows.map((row) => ({ cursor: { key: row.sortKey, id: row.id }, row: toChatRecord(row) })),
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
