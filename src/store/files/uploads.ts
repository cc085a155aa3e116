/** Pending uploads: rows of files whose bytes have not been received. */
import type { Queryable, Statement } from "../common/database.js";
import type { FileRecord, NewFile } from "./files.js";

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

/** `sha256` is null until the bytes are complete. */
export type Upload = FileRecord & { ownerId: string; sha256: Buffer | null };

const FIND: Statement = {
  name: "uploads.find",
  text: `SELECT f.id, f.name, f.media_type AS "mediaType", f.size_bytes::int AS "sizeBytes", f.owner_id AS "ownerId",
      f.sha256
    FROM files f JOIN users u ON u.id = f.owner_id AND u.deactivated_at IS NULL
    WHERE f.id = $1`,
};

/** Null when there is no such file, or its owner was deactivated. */
export async function findUpload(db: Queryable, id: string): Promise<Upload | null> {
  const [upload] = await db.query<Upload>(FIND, [id]);
  return upload ?? null;
}

const FINISH: Statement = {
  name: "uploads.finish",
  text: `UPDATE files SET media_type = $2, sha256 = $3, content = $4, object_key = $5, ready_at = $6
    WHERE id = $1 AND ready_at IS NULL RETURNING id`,
};

/** False when it was deleted meanwhile, or finished by another request. */
export async function finishUpload(
  db: Queryable,
  file: Pick<NewFile, "id" | "mediaType" | "sha256" | "content" | "objectKey" | "now">,
): Promise<boolean> {
  const { id, mediaType, sha256, content, objectKey, now } = file;
  const bytes = content && Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const rows = await db.query(FINISH, [
    ...[id, mediaType, Buffer.from(sha256), bytes, objectKey, new Date(now)],
  ]);
  return rows.length > 0;
}
