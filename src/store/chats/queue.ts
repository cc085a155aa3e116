/** Reading the messages that wait to be said. */
import type { QueuedRow } from "../../domain/chats/chat-events.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Owned, type QueuedDbRow, queuedColumns, toParts, toQueuedRow } from "./rows.js";
import { boundedByBytes, type Sized, type SizedDbRow, unlessTooLarge } from "../common/sized-rows.js";

const LIST: Statement = {
  name: "queue.list",
  text: `
    SELECT ${queuedColumns} FROM chats c JOIN chat_queued_messages q ON q.chat_id = c.id
    WHERE c.id = ANY($1::uuid[]) AND q.id = ANY(c.queued_ids)
    ORDER BY array_position(c.queued_ids, q.id)`,
};

/** The queues of several chats, each in the order of saying; the chats' visibility is the caller's. */
export async function listQueues(
  db: Queryable,
  chatIds: readonly string[],
): Promise<Map<string, QueuedRow[]>> {
  const rows = await db.query<QueuedDbRow>(LIST, [chatIds]);
  const queues = new Map(chatIds.map((id) => [id, [] as QueuedRow[]]));
  for (const row of rows) queues.get(row.chat_id)?.push(toQueuedRow(row));
  return queues;
}

const FIND: Statement = {
  name: "queue.find",
  text: `
    SELECT ${queuedColumns}, c.owner_id FROM chat_queued_messages q JOIN chats c ON c.id = q.chat_id
    WHERE q.id = ANY($1::uuid[]) AND q.id = ANY(c.queued_ids) AND (c.owner_id = $2 OR $3)`,
};

// Index: chat_queued_messages_pkey.
const FULL: Statement = {
  name: "queue.full",
  text: boundedByBytes(
    `SELECT q.id, q.chat_id, c.owner_id, q.content_version, q.content
      FROM chat_queued_messages q JOIN chats c ON c.id = q.chat_id
      WHERE q.id = ANY($1::uuid[]) AND q.id = ANY(c.queued_ids) AND (c.owner_id = $2 OR $3)`,
    "$4",
  ),
};

export type FullQueuedRow = Owned & { id: string; chatId: string; parts: MessagePart[] };

/** The whole of what waits in chats that the viewer may see, in no order; null when that is more than `maxBytes`. */
export async function readFullQueued(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
  maxBytes: number,
): Promise<Sized<FullQueuedRow[]> | null> {
  type Row = QueuedDbRow & SizedDbRow & { owner_id: string };
  const rows = await db.query<Row>(FULL, [ids, viewer.userId, viewer.role === "admin", maxBytes]);
  return unlessTooLarge(rows, maxBytes, (row) => ({
    ...{ id: row.id, chatId: row.chat_id, ownerId: row.owner_id },
    parts: toParts("user", row),
  }));
}

/** Those of the queued messages that still wait in chats that the viewer may see, in no order. */
export async function findQueuedMessages(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<(QueuedRow & Owned)[]> {
  const rows = await db.query<QueuedDbRow & { owner_id: string }>(FIND, [
    ids,
    viewer.userId,
    viewer.role === "admin",
  ]);
  return rows.map((row) => ({ ...toQueuedRow(row), ownerId: row.owner_id }));
}
