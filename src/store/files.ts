/** Files that people or tools have given to chats; their bytes are read only when a model is to see them. */
import type { Viewer } from "../domain/viewer.js";
import type { Queryable, Statement } from "./database.js";

/** A file without its bytes. */
export type FileRecord = { id: string; name: string; mediaType: string; sizeBytes: number };

const FIND: Statement = {
  name: "files.find",
  text: `SELECT f.id, f.name, f.media_type AS "mediaType", f.size_bytes::int AS "sizeBytes" FROM files f
    WHERE f.id = ANY($1::uuid[]) AND (f.owner_id = $2 OR $3)`,
};

/** Those of the files that the viewer owns or may see as an admin, in no order. */
export async function findFiles(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<FileRecord[]> {
  return db.query<FileRecord>(FIND, [ids, viewer.userId, viewer.role === "admin"]);
}

const CONTENTS: Statement = {
  name: "files.contents",
  text: `SELECT f.id, f.content FROM files f WHERE f.id = ANY($1::uuid[]) AND f.owner_id = $2`,
};

/** The bytes of those of the files that belong to the person; what is missing is not in the map. */
export async function readFileContents(
  db: Queryable,
  ownerId: string,
  ids: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const rows = await db.query<{ id: string; content: Buffer }>(CONTENTS, [ids, ownerId]);
  return new Map(rows.map(({ id, content }) => [id, content]));
}
