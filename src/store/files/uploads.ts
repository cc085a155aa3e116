/** Pending uploads: rows of files whose bytes have not been received. */
import type { Queryable, Statement } from "../common/database.js";
import { Parameters, type Selected, selectionOf, writtenColumn } from "../common/entity-columns.js";
import { FileEntity } from "./file.entity.js";
import { FILE_PROPERTIES, type FileRecord, RECEIVED, type ReceivedFile } from "./files.js";

// Index: files_owner_idx. Files in chats are far more; those in no chat are bounded per user.
const ANNOUNCE: Statement = {
  name: "uploads.announce",
  text: `INSERT INTO files (id, owner_id, name, media_type, size_bytes, created_at)
    SELECT $1::uuid, $2::uuid, $3::text, $4::text, $5::bigint, $6::timestamptz
    WHERE (SELECT count(*) FROM files f WHERE f.owner_id = $2 AND f.chat_id IS NULL) < $7
    RETURNING id`,
};

/** False when the user has `maxLoose` files in no chat. */
export async function announceUpload(
  db: Queryable,
  file: FileRecord & { ownerId: string; now: number },
  maxLoose: number,
): Promise<boolean> {
  const { id, ownerId, name, mediaType, sizeBytes, now } = file;
  const values = [id, ownerId, name, mediaType, sizeBytes, new Date(now), maxLoose];
  return (await db.query(ANNOUNCE, values)).length > 0;
}

const upload = selectionOf(FileEntity, "f", [...FILE_PROPERTIES, "ownerId", "sha256"]);

/** `sha256` is null until the bytes are complete. */
export type Upload = ReturnType<(typeof upload)["read"]>;

const FIND: Statement = {
  name: "uploads.find",
  text: `SELECT ${upload.columns} FROM files f JOIN users u ON u.id = f.owner_id AND u.deactivated_at IS NULL
    WHERE f.id = $1`,
};

/** Null when there is no such file, or its owner was deactivated. */
export async function findUpload(db: Queryable, id: string): Promise<Upload | null> {
  const [row] = await db.query<Selected<Upload>>(FIND, [id]);
  return row ? upload.read(row) : null;
}

type FinishedUpload = ReceivedFile & { id: string };

const FINISH = (() => {
  const parameters = new Parameters<FinishedUpload>();
  const id = parameters.add(writtenColumn(FileEntity, "id", (file: FinishedUpload) => file.id));
  const text = `UPDATE files SET ${parameters.assignments(RECEIVED)}
    WHERE id = ${id} AND ready_at IS NULL RETURNING id`;
  return { parameters, statement: { name: "uploads.finish", text } };
})();

/** False when it was deleted meanwhile, or finished by another request. */
export async function finishUpload(db: Queryable, file: FinishedUpload): Promise<boolean> {
  return (await db.query(FINISH.statement, FINISH.parameters.valuesOf(file))).length > 0;
}
