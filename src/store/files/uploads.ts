/** Files that are announced: rows whose bytes are still to come. */
import type { Queryable, Statement } from "../common/database.js";
import type { FileRecord, NewFile } from "./files.js";

// Index: files_owner_idx. Those that are in chats are far more; the ones in none are bounded for each person.
const ANNOUNCE: Statement = {
  name: "uploads.announce",
  text: `INSERT INTO files (id, owner_id, name, media_type, size_bytes, created_at)
    SELECT $1::uuid, $2::uuid, $3::text, $4::text, $5::bigint, $6::timestamptz
    WHERE (SELECT count(*) FROM files f WHERE f.owner_id = $2 AND f.chat_id IS NULL) < $7
    RETURNING id`,
};

/** False when the person has as many files in no chat as they may. */
export async function announceUpload(
  db: Queryable,
  file: FileRecord & { ownerId: string; now: number },
  maxLoose: number,
): Promise<boolean> {
  const { id, ownerId, name, mediaType, sizeBytes, now } = file;
  const values = [id, ownerId, name, mediaType, sizeBytes, new Date(now), maxLoose];
  return (await db.query(ANNOUNCE, values)).length > 0;
}

/** `sha256` is null until the bytes have come. */
export type Upload = FileRecord & { ownerId: string; sha256: Buffer | null };

const FIND: Statement = {
  name: "uploads.find",
  text: `SELECT f.id, f.name, f.media_type AS "mediaType", f.size_bytes::int AS "sizeBytes", f.owner_id AS "ownerId",
      f.sha256
    FROM files f JOIN users u ON u.id = f.owner_id AND u.deactivated_at IS NULL
    WHERE f.id = $1`,
};

/** Null when it has gone, or its owner was deactivated. */
export async function findUpload(db: Queryable, id: string): Promise<Upload | null> {
  const [upload] = await db.query<Upload>(FIND, [id]);
  return upload ?? null;
}

const FINISH: Statement = {
  name: "uploads.finish",
  text: `UPDATE files SET media_type = $2, sha256 = $3, content = $4, object_key = $5, ready_at = $6
    WHERE id = $1 AND ready_at IS NULL RETURNING id`,
};

/** False when it has gone meanwhile, or somebody else was first. */
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
