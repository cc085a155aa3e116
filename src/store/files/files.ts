/** Rows of files that users and tools added to chats. Where their bytes are stored is decided in src/services/files. */
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import {
  Parameters,
  type Selected,
  selectionOf,
  type WrittenColumn,
  writtenColumn,
  writtenColumns,
} from "../common/entity-columns.js";
import {
  GREATEST_UUID,
  microsOf,
  type Page,
  type PageRequest,
  timestampOf,
  toPage,
} from "../common/pages.js";
import { FileEntity } from "./file.entity.js";

/** The properties of a `FileRecord`. */
export const FILE_PROPERTIES = ["id", "name", "mediaType", "sizeBytes"] as const;

const file = selectionOf(FileEntity, "f", FILE_PROPERTIES);
const owned = selectionOf(FileEntity, "f", [...FILE_PROPERTIES, "ownerId"]);
const located = selectionOf(FileEntity, "f", [...FILE_PROPERTIES, "objectKey"]);

/** A file without its bytes. */
export type FileRecord = ReturnType<(typeof file)["read"]>;

/** `createdAt`: when its bytes were complete. */
export type ReadyFile = ReturnType<(typeof owned)["read"]> & { createdAt: Date };

type ReadyDbRow = Selected<ReturnType<(typeof owned)["read"]>> & { createdAt: Date };
const toReadyFile: (row: ReadyDbRow) => ReadyFile = owned.readWith({
  createdAt: ({ createdAt }: ReadyDbRow) => createdAt,
});

/** Where the bytes are: `objectKey` is null when they are in the database. */
export type StoredBytes = ReturnType<(typeof located)["read"]>;

// Index: files_pkey.
const FIND: Statement = {
  name: "files.find",
  text: `SELECT ${owned.columns}, f.ready_at AS "createdAt"
    FROM files f
    WHERE f.id = ANY($1::uuid[]) AND f.ready_at IS NOT NULL AND (f.owner_id = $2 OR $3)`,
};

/** The complete files that the viewer may see, as owner or admin; in no order. */
export async function findFiles(db: Queryable, viewer: Viewer, ids: readonly string[]): Promise<ReadyFile[]> {
  const rows = await db.query<ReadyDbRow>(FIND, [ids, viewer.userId, viewer.role === "admin"]);
  return rows.map(toReadyFile);
}

const FIND_BYTES: Statement = {
  name: "files.find-bytes",
  text: `SELECT ${located.columns} FROM files f WHERE f.id = $1 AND f.ready_at IS NOT NULL`,
};

/** The file, without an access check: the caller has verified a signed link or the viewer's access. */
export async function findStoredBytes(db: Queryable, id: string): Promise<StoredBytes | null> {
  const [row] = await db.query<Selected<StoredBytes>>(FIND_BYTES, [id]);
  return row ? located.read(row) : null;
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
  type Row = { slice: Buffer | null } & Pick<FileEntity, "objectKey">;
  const [row] = await db.query<Row>(SLICE, [id, first, length]);
  if (row === undefined) return null;
  return row.objectKey === null ? { slice: row.slice ?? new Uint8Array() } : { objectKey: row.objectKey };
}

const contents = selectionOf(FileEntity, "f", ["id", "sizeBytes", "content", "objectKey"]);

/** The bytes are in `content` or under `objectKey`. */
export type FileContents = ReturnType<(typeof contents)["read"]>;

const CONTENTS: Statement = {
  name: "files.contents",
  text: `SELECT ${contents.columns} FROM files f
    WHERE f.id = ANY($1::uuid[]) AND f.chat_id = $2 AND f.ready_at IS NOT NULL`,
};

/** The files that are in the chat; missing ones are left out. */
export async function readFileContents(
  db: Queryable,
  chatId: string,
  ids: readonly string[],
): Promise<FileContents[]> {
  return (await db.query<Selected<FileContents>>(CONTENTS, [ids, chatId])).map(contents.read);
}

/** A file with its bytes, which are in `content` or under `objectKey`. */
export type NewFile = StoredBytes & {
  ownerId: string;
  sha256: Uint8Array;
  content: Uint8Array | null;
  /** Milliseconds since the epoch. */
  now: number;
};

/** What makes a file ready. */
export type ReceivedFile = Pick<NewFile, "mediaType" | "sha256" | "content" | "objectKey" | "now">;

/** Columns that are written when a file's bytes have been received. */
export const RECEIVED: readonly WrittenColumn<ReceivedFile>[] = [
  ...writtenColumns(FileEntity, ["mediaType", "objectKey"]),
  writtenColumn(FileEntity, "sha256", ({ sha256 }) => Buffer.from(sha256)),
  writtenColumn(
    FileEntity,
    "content",
    ({ content }) => content && Buffer.from(content.buffer, content.byteOffset, content.byteLength),
  ),
  writtenColumn(FileEntity, "readyAt", ({ now }) => new Date(now)),
];

const INSERT = (() => {
  const parameters = new Parameters<NewFile>();
  const created = writtenColumn(FileEntity, "createdAt", ({ now }: NewFile) => new Date(now));
  const announced = writtenColumns(FileEntity, ["id", "ownerId", "name", "sizeBytes"]);
  const text = `INSERT INTO files ${parameters.row([...announced, ...RECEIVED, created])}`;
  return { parameters, statement: { name: "files.insert", text } };
})();

/** In no chat yet. */
export async function insertFile(db: Queryable, file: NewFile): Promise<void> {
  await db.query(INSERT.statement, INSERT.parameters.valuesOf(file));
}

// Index: files_chat_idx.
const OF_CHAT: Statement = {
  name: "files.of-chat",
  text: `SELECT ${file.columns}, ${microsOf("f.attached_at")} AS "sortKey" FROM files f
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
  type Row = Selected<FileRecord> & { id: string; sortKey: string };
  const rows = await db.query<Row>(OF_CHAT, [chatId, key, id, page.limit + 1]);
  return toPage(
    page,
    rows.map((row) => ({ cursor: { key: row.sortKey, id: row.id }, row: file.read(row) })),
  );
}
