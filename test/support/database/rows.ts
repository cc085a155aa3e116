// Inserts rows straight into the database, for tests of reads; writes are tested with the code that does them.
import { randomUUID } from "node:crypto";
import type { Viewer } from "../../../src/domain/users/viewer.js";
import type { Database } from "../../../src/store/common/database.js";
import { createUser } from "../../../src/store/users/users.js";

/** Inserts a user; returns the viewer. */
export async function insertViewer(db: Database, role: Viewer["role"] = "member"): Promise<Viewer> {
  const username = `user-${randomUUID()}`;
  const user = await createUser(db, { username, name: "Somebody", role });
  if (!user) throw new Error("the username is taken");
  return { userId: user.id, username, name: user.name, role, expiresAt: null };
}

export type ChatRow = {
  ownerId: string;
  id?: string;
  title?: string;
  status?: "waiting" | "pending" | "error";
  archived?: boolean;
  /** A subagent of this chat. */
  parentId?: string;
  workspaceId?: string | null;
  labels?: Record<string, string>;
  /** As PostgreSQL reads it. */
  updatedAt?: string;
  createdAt?: string;
};

/** Inserts an idle chat, or one that waits for a worker; returns its id. */
export async function insertChat(db: Database, row: ChatRow): Promise<string> {
  const id = row.id ?? randomUUID();
  const values = [
    id,
    row.ownerId,
    row.title ?? "A chat",
    row.status ?? "waiting",
    row.archived ?? false,
    row.workspaceId ?? null,
    JSON.stringify(row.labels ?? {}),
    row.updatedAt ?? "now",
    row.createdAt ?? "now",
    row.parentId ?? null,
  ];
  await db.query(
    {
      name: "test.insert-chat",
      text: `
        INSERT INTO chats (id, owner_id, title, status, archived_at, workspace_id, labels, updated_at, created_at,
          snapshot_version, history_version, reset_version, queue_version, status_version, retry_version, attempt,
          parent_chat_id, root_chat_id, subagent_kind, depth)
        VALUES ($1, $2, $3, $4, CASE WHEN $5::boolean THEN now() END, $6, $7, $8, $9, 7, 6, 0, 0, 7, 0, 0,
          $10, (SELECT coalesce(root_chat_id, id) FROM chats WHERE id = $10::uuid),
          CASE WHEN $10::uuid IS NOT NULL THEN 'general' END,
          coalesce((SELECT depth + 1 FROM chats WHERE id = $10::uuid), 0))`,
    },
    values,
  );
  return id;
}

export type MessageRowToInsert = {
  chatId: string;
  text: string;
  visibility?: "user" | "model" | "both";
  isDeleted?: boolean;
  authorId?: string;
  contentVersion?: number;
};

/** Inserts a user message; returns its id. */
export async function insertMessage(db: Database, row: MessageRowToInsert): Promise<string> {
  const content = JSON.stringify([{ type: "text", text: row.text }]);
  const [made] = await db.query<{ id: string }>(
    {
      name: "test.insert-message",
      text: `
        INSERT INTO chat_messages (chat_id, role, visibility, content_version, content, author_id, revision, is_deleted)
        VALUES ($1, 'user', $2, $3, $4, $5, 6, $6) RETURNING id`,
    },
    [
      row.chatId,
      row.visibility ?? "both",
      row.contentVersion ?? 1,
      content,
      row.authorId ?? null,
      row.isDeleted ?? false,
    ],
  );
  if (!made) throw new Error("no message was made");
  return made.id;
}

/** Appends messages to a chat's queue, in this order; returns their ids. */
export async function insertQueue(
  db: Database,
  row: { chatId: string; authorId: string; texts: string[] },
): Promise<string[]> {
  const ids = row.texts.map(() => randomUUID());
  for (const [index, text] of row.texts.entries()) {
    await db.query(
      {
        name: "test.insert-queued",
        text: `
          INSERT INTO chat_queued_messages (id, chat_id, author_id, content_version, content)
          VALUES ($1, $2, $3, 1, $4)`,
      },
      [ids[index], row.chatId, row.authorId, JSON.stringify([{ type: "text", text }])],
    );
  }
  await db.query(
    { name: "test.set-queue", text: "UPDATE chats SET queued_ids = queued_ids || $2::uuid[] WHERE id = $1" },
    [row.chatId, ids],
  );
  return ids;
}
