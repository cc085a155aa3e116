/** Rows of files that users and tools added to chats. Where their bytes are stored is decided in src/services/files. */
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import {
  GREATEST_UUID,
  microsOf,
  type Page,
  type PageRequest,
  timestampOf,
  toPage,
} from "../common/pages.js";

/** A file without its bytes. */
export type FileRecord = { id: string; name: string; mediaType: string; sizeBytes: number };

/** `createdAt`: when its bytes were complete. */
export type ReadyFile = FileRecord & { ownerId: string; createdAt: Date };

/** Where the bytes are: `objectKey` is null when they are in the database. */
export type StoredBytes = FileRecord & { objectKey: string | null };

const FIELDS = `f.id, f.name, f.media_type AS "mediaType", f.size_bytes::int AS "sizeBytes"`;

// Index: files_pkey.
const FIND: Statement = {
  name: "files.find",
  text: `SELECT ${FIELDS}, f.owner_id AS "ownerId", f.ready_at AS "createdAt"
    FROM files f
    WHERE f.id = ANY($1::uuid[]) AND f.ready_at IS NOT NULL AND (f.owner_id = $2 OR $3)`,
};

/** The complete files that the viewer may see, as owner or admin; in no order. */
export async function findFiles(db: Queryable, viewer: Viewer, ids: readonly string[]): Promise<ReadyFile[]> {
  return db.query<ReadyFile>(FIND, [ids, viewer.userId, viewer.role === "admin"]);
}

const FIND_BYTES: Statement = {
  name: "files.find-bytes",
  text: `SELECT ${FIELDS}, f.object_key AS "objectKey" FROM files f WHERE f.id = $1 AND f.ready_at IS NOT NULL`,
};

/** The file, without an access check: the caller has verified a signed link or the viewer's access. */
export async function findStoredBytes(db: Queryable, id: string): Promise<StoredBytes | null> {
  const [file] = await db.query<StoredBytes>(FIND_BYTES, [id]);
  return file ?? null;
}

// Positions count from 1. The column is stored without compression, so a slice of it is all that is read.
const SLICE: Statement = {
  name: "files.slice",
  text: `SELECT substring(f.content FROM $2::int + 1 FOR $3::int) AS slice, f.object_key AS "objectKey"
    FROM files f WHERE f.id = $1 AND f.ready_at IS NOT NULL`,
};

/** At most `length` bytes from `first` on, counted from 0, or where else they are; null when the file has gone. */
export async function readFileSlice(
  db: Queryable,
  { id, first, length }: { id: string; first: number; length: number },
): Promise<{ slice: Uint8Array } | { objectKey: string } | null> {
  type Row = { slice: Buffer | null; objectKey: string | null };
  const [row] = await db.query<Row>(SLICE, [id, first, length]);
  if (row === undefined) return null;
  return row.objectKey === null ? { slice: row.slice ?? new Uint8Array() } : { objectKey: row.objectKey };
}

/** The bytes are in `content` or under `objectKey`. */
export type FileContents = {
  id: string;
  sizeBytes: number;
  content: Buffer | null;
  objectKey: string | null;
};

const CONTENTS: Statement = {
  name: "files.contents",
  text: `SELECT f.id, f.size_bytes::int AS "sizeBytes", f.content, f.object_key AS "objectKey" FROM files f
    WHERE f.id = ANY($1::uuid[]) AND f.chat_id = $2 AND f.ready_at IS NOT NULL`,
};

/** The files that are in the chat; missing ones are left out. */
export async function readFileContents(
  db: Queryable,
  chatId: string,
  ids: readonly string[],
): Promise<FileContents[]> {
  return db.query<FileContents>(CONTENTS, [ids, chatId]);
}

/** A file with its bytes, which are in `content` or under `objectKey`. */
export type NewFile = FileRecord & {
  ownerId: string;
  sha256: Uint8Array;
  content: Uint8Array | null;
  objectKey: string | null;
  /** Milliseconds since the epoch. */
  now: number;
};

const INSERT: Statement = {
  name: "files.insert",
  text: `INSERT INTO files (id, owner_id, name, media_type, size_bytes, sha256, content, object_key, created_at, ready_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
};

/** In no chat yet. */
export async function insertFile(db: Queryable, file: NewFile): Promise<void> {
  const { id, ownerId, name, mediaType, sizeBytes, sha256, content, objectKey, now } = file;
  const bytes = content && Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  await db.query(INSERT, [
    ...[id, ownerId, name, mediaType, sizeBytes, Buffer.from(sha256), bytes, objectKey, new Date(now)],
  ]);
}

// Index: files_chat_idx.
const OF_CHAT: Statement = {
  name: "files.of-chat",
  text: `SELECT ${FIELDS}, ${microsOf("f.attached_at")} AS "sortKey" FROM files f
    WHERE f.chat_id = $1 AND (f.attached_at, f.id) < (${timestampOf("$2", "infinity")}, $3::uuid)
    ORDER BY f.attached_at DESC, f.id DESC LIMIT $4`,
};

/** Newest first, forwards only. The caller checks the chat's visibility. */
export async function listChatFiles(
  db: Queryable,
  chatId: string,
  page: PageRequest,
): Promise<Page<FileRecord>> {
  const { key = null, id = GREATEST_UUID } = page.after ?? {};
  const rows = await db.query<FileRecord & { sortKey: string }>(OF_CHAT, [chatId, key, id, page.limit + 1]);
  return toPage(
    page,
    rows.map(({ sortKey, ...row }) => ({ cursor: { key: sortKey, id: row.id }, row })),
  );
}
