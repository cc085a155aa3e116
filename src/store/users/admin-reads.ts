/** Admins' reads of other users' data, deduplicated so that the audit log has one entry per hour. */
import type { Queryable, Statement } from "../common/database.js";

/** What an admin reads: a chat, a file, the list of a user's chats, or a chat's recorded model calls. */
export type ReadKind = "chat" | "file" | "user" | "calls";

/** How long a recorded read covers later ones, on every replica. */
const COVERED_FOR = "interval '1 hour'";
/** Age after which the admin's next recorded read deletes a row. */
const RETENTION = "interval '1 day'";

type Source = { table: string; name: string; owner: string };
const SOURCES: Record<ReadKind, Source> = {
  chat: { table: "chats", name: "title", owner: "owner_id" },
  file: { table: "files", name: "name", owner: "owner_id" },
  user: { table: "users", name: "username", owner: "id" },
  calls: { table: "chats", name: "title", owner: "owner_id" },
};

/**
 * A concurrent second read waits for the first and then finds it recorded. Ordered, so that two that record several
 * do not deadlock. Index: the sources' primary keys, admin_reads_pkey.
 */
function noting(kind: ReadKind): Statement {
  const { table, name, owner } = SOURCES[kind];
  return {
    name: `admin-reads.note-${kind}`,
    text: `
      WITH others AS (
        SELECT id, ${name} AS name FROM ${table} WHERE id = ANY($2::uuid[]) AND ${owner} <> $1
      ), noted AS (
        INSERT INTO admin_reads (admin_id, target_kind, target_id)
        SELECT $1, '${kind}', id FROM others ORDER BY id
        ON CONFLICT (admin_id, target_kind, target_id) DO UPDATE SET noted_at = now()
          WHERE admin_reads.noted_at <= now() - ${COVERED_FOR}
        RETURNING target_id
      )
      SELECT o.id, o.name FROM others o JOIN noted n ON n.target_id = o.id ORDER BY o.id`,
  };
}

const NOTE: Record<ReadKind, Statement> = {
  chat: noting("chat"),
  file: noting("file"),
  user: noting("user"),
  calls: noting("calls"),
};

/** Index: admin_reads_pkey, by its first column. */
const FORGET: Statement = {
  name: "admin-reads.forget",
  text: `DELETE FROM admin_reads WHERE admin_id = $1 AND noted_at < now() - ${RETENTION}`,
};

/** Records reads. Returns the targets that belong to other users and were not read within the last hour, with their names. */
export async function noteAdminReads(
  transaction: Queryable,
  adminId: string,
  { kind, ids }: { kind: ReadKind; ids: readonly string[] },
): Promise<{ id: string; name: string }[]> {
  const noted = await transaction.query<{ id: string; name: string }>(NOTE[kind], [adminId, ids]);
  if (noted.length > 0) await transaction.query(FORGET, [adminId]);
  return noted;
}
