/** When admins last read what is somebody else's, so that the audit log has one line of it in an hour. */
import type { Queryable, Statement } from "../common/database.js";

/** What an admin reads: a chat, a file, the list of a person's chats, or what models were asked for a chat. */
export type ReadKind = "chat" | "file" | "user" | "calls";

/** How long a read stands for those after it, in every replica. */
const NOTED_FOR = "interval '1 hour'";
/** Rows that do not count any more are kept no longer than until the admin's next read of something new. */
const KEPT_FOR = "interval '1 day'";

type Source = { table: string; name: string; owner: string };
const SOURCES: Record<ReadKind, Source> = {
  chat: { table: "chats", name: "title", owner: "owner_id" },
  file: { table: "files", name: "name", owner: "owner_id" },
  user: { table: "users", name: "username", owner: "id" },
  calls: { table: "chats", name: "title", owner: "owner_id" },
};

/**
 * Whoever comes second at one time waits for the first and then finds it noted. Ordered, so that two who note several
 * do not wait for each other. Index: the sources' primary keys, admin_reads_pkey.
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
          WHERE admin_reads.noted_at <= now() - ${NOTED_FOR}
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
  text: `DELETE FROM admin_reads WHERE admin_id = $1 AND noted_at < now() - ${KEPT_FOR}`,
};

/** Those of the things that are somebody else's and that the admin has not read within the last hour, with their names. */
export async function noteAdminReads(
  transaction: Queryable,
  adminId: string,
  { kind, ids }: { kind: ReadKind; ids: readonly string[] },
): Promise<{ id: string; name: string }[]> {
  const noted = await transaction.query<{ id: string; name: string }>(NOTE[kind], [adminId, ids]);
  if (noted.length > 0) await transaction.query(FORGET, [adminId]);
  return noted;
}
