/** Which files are in which chat: given to it, counted, and taken away when there are too many. */
import { MAX_CHAT_FILES } from "../../domain/files/file-limits.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { FileEntity } from "./file.entity.js";
import { FILE_PROPERTIES } from "./files.js";

const file = selectionOf(FileEntity, "f", [...FILE_PROPERTIES, "chatId"]);
type IsReady = { isReady: boolean };

/** `chatId` is null for a file that was sent nowhere yet. */
export type AttachableFile = ReturnType<(typeof file)["read"]> & IsReady;

type AttachableDbRow = Selected<ReturnType<(typeof file)["read"]>> & IsReady;
const toAttachable: (row: AttachableDbRow) => AttachableFile = file.readWith({
  isReady: ({ isReady }: AttachableDbRow) => isReady,
});

// Index: files_pkey.
const FIND: Statement = {
  name: "chat-files.find",
  text: `SELECT ${file.columns}, f.ready_at IS NOT NULL AS "isReady"
    FROM files f WHERE f.id = ANY($1::uuid[]) AND (f.owner_id = $2 OR f.chat_id = $3)`,
};

/** The files that are the user's own or already in this chat, which they may use; in no order. */
export async function findAttachable(
  db: Queryable,
  { userId, chatId, ids }: { userId: string; chatId: string | null; ids: readonly string[] },
): Promise<AttachableFile[]> {
  return (await db.query<AttachableDbRow>(FIND, [ids, userId, chatId])).map(toAttachable);
}

/** A file that was there has gone, or went into another chat; the transaction must be undone. */
export class FileGone extends Error {
  override readonly name = "FileGone";
}

// Two that give at the same time count one after the other. Weaker than FOR UPDATE: references to the chat do not wait.
const LOCK_CHAT: Statement = {
  name: "chat-files.lock",
  text: "SELECT c.owner_id FROM chats c WHERE c.id = $1 FOR NO KEY UPDATE",
};

const ATTACH: Statement = {
  name: "chat-files.attach",
  text: `UPDATE files f SET chat_id = c.id, owner_id = c.owner_id, attached_at = $3
    FROM chats c
    WHERE c.id = $1 AND f.id = ANY($2::uuid[]) AND f.ready_at IS NOT NULL AND (f.chat_id IS NULL OR f.chat_id = $1)
    RETURNING f.id`,
};

// Index: files_chat_idx; chat_messages_history_idx for the newest message, whose files are in use.
const EVICT: Statement = {
  name: "chat-files.evict",
  text: `WITH newest AS (
      SELECT m.content FROM chat_messages m
      WHERE m.chat_id = $1 AND NOT m.is_deleted AND m.role = 'user' AND m.author_id IS NOT NULL
      ORDER BY m.id DESC LIMIT 1),
    in_use AS (
      SELECT jsonb_path_query(n.content, 'lax $[*].fileId') #>> '{}' AS file_id FROM newest n)
    DELETE FROM files WHERE id IN (
      SELECT f.id FROM files f
      WHERE f.chat_id = $1 AND NOT f.id = ANY($2::uuid[]) AND f.id::text NOT IN (SELECT file_id FROM in_use)
      ORDER BY f.attached_at, f.id
      LIMIT greatest(0, (SELECT count(*) FROM files a WHERE a.chat_id = $1) - ${MAX_CHAT_FILES}))
    RETURNING id`,
};

/**
 * Gives files to a chat, within the caller's transaction, and takes the oldest of its others away that are too many; the
 * ids of those. The files are the chat owner's from now on. Throws `FileGone`.
 */
export async function attachFiles(
  transaction: Queryable,
  { chatId, ids, now }: { chatId: string; ids: readonly string[]; now: number },
): Promise<string[]> {
  await transaction.query(LOCK_CHAT, [chatId]);
  const attached = await transaction.query(ATTACH, [chatId, ids, new Date(now)]);
  if (attached.length < new Set(ids).size) throw new FileGone("A file is not there any more.");
  const gone = await transaction.query<{ id: string }>(EVICT, [chatId, ids]);
  return gone.map(({ id }) => id);
}
