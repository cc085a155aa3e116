/** Reading queued messages. */
import type { QueuedRow } from "../../domain/chats/chat-events.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import type { ChatQueuedMessageEntity } from "./chat-queued-message.entity.js";
import { type Owned, type QueuedDbRow, queuedColumns, toParts, toQueuedRow } from "./rows.js";
import { boundedByBytes, type Sized, type SizedDbRow, unlessTooLarge } from "../common/sized-rows.js";

const LIST: Statement = {
  name: "queue.list",
  text: `
    SELECT ${queuedColumns} FROM chats c JOIN chat_queued_messages q ON q.chat_id = c.id
    WHERE c.id = ANY($1::uuid[]) AND q.id = ANY(c.queued_ids)
    ORDER BY array_position(c.queued_ids, q.id)`,
};

/** The queues of several chats, each in the order of sending. The caller checks the chats' visibility. */
export async function listQueues(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, QueuedRow[]>> {
  const rows = await db.query<QueuedDbRow>(LIST, [chatIds]);
  const queues = new Map(chatIds.map((id) => [id, [] as QueuedRow[]]));
  for (const row of rows) {
    const queued = toQueuedRow(row);
    queues.get(queued.chatId)?.push(queued);
  }
  return queues;
}

const FIND: Statement = {
  name: "queue.find",
  text: `
    SELECT ${queuedColumns}, c.owner_id AS "ownerId" FROM chat_queued_messages q JOIN chats c ON c.id = q.chat_id
    WHERE q.id = ANY($1::uuid[]) AND q.id = ANY(c.queued_ids) AND (c.owner_id = $2 OR $3)`,
};

// Index: chat_queued_messages_pkey.
const FULL: Statement = {
  name: "queue.full",
  text: boundedByBytes(
    `SELECT q.id, q.chat_id AS "chatId", c.owner_id AS "ownerId", q.content_version AS "contentVersion", q.content
      FROM chat_queued_messages q JOIN chats c ON c.id = q.chat_id
      WHERE q.id = ANY($1::uuid[]) AND q.id = ANY(c.queued_ids) AND (c.owner_id = $2 OR $3)`,
    "$4",
  ),
};

export type FullQueuedRow = Owned & { id: string; chatId: string; parts: MessagePart[] };

/** The full queued messages in chats that the viewer may see, in no order; null when they exceed `maxBytes` together. */
export async function readFullQueued(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
  maxBytes: number,
): Promise<Sized<FullQueuedRow[]> | null> {
  type Row = SizedDbRow &
    Owned &
    Pick<ChatQueuedMessageEntity, "id" | "chatId" | "contentVersion" | "content">;
  const rows = await db.query<Row>(FULL, [ids, viewer.userId, viewer.role === "admin", maxBytes]);
  return unlessTooLarge(rows, maxBytes, (row) => ({
    ...{ id: row.id, chatId: row.chatId, ownerId: row.ownerId },
    parts: toParts("user", row),
  }));
}

/** The messages that are still queued, in chats that the viewer may see; in no order. */
export async function findQueuedMessages(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<(QueuedRow & Owned)[]> {
  const rows = await db.query<QueuedDbRow & Owned>(FIND, [ids, viewer.userId, viewer.role === "admin"]);
  return rows.map((row) => ({ ownerId: row.ownerId, ...toQueuedRow(row) }));
}
