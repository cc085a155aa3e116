/** The audit log: what admins and the operator did. Entries are only added, in the transaction of what they record. */
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditActor,
  type AuditEntry,
  type AuditTargetKind,
  readAuditChanges,
  type ReadAuditChange,
} from "../../domain/users/audit.js";
import { demandAdmin, type Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { selectionOf } from "../common/entity-columns.js";
import { AuditLogEntity } from "./audit-log.entity.js";
import { fromJsonb, toJsonb } from "../common/jsonb-text.js";
import { type Page, type PageRequest, toPage } from "../common/pages.js";

const RECORD: Statement = {
  name: "audit-log.record",
  text: `
    INSERT INTO audit_log (actor_id, actor_name, action, target_kind, target_id, target_name, changes, request_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
};

/**
 * `transaction` is the change's own, so there is no change without an entry and no entry without a change. Admins'
 * commands record through `asAdmin`, their reads through `AdminReads`.
 */
export async function recordAudit(
  transaction: Queryable,
  actor: AuditActor,
  entry: AuditEntry,
): Promise<void> {
  const { action, targetId, targetName, changes } = entry;
  await transaction.query(RECORD, [
    actor.userId,
    actor.name,
    action,
    AUDIT_ACTIONS[action],
    targetId,
    targetName,
    toJsonb(changes),
    actor.requestId,
  ]);
}

const entry = selectionOf(AuditLogEntity, "", [
  ...(["id", "at", "actorId", "actorName", "action", "targetKind", "targetId", "targetName"] as const),
  ...(["changes", "requestId"] as const),
]);
type AuditLogDbRow = ReturnType<(typeof entry)["read"]>;
const FIELDS = entry.columns;

/** Its `actorId` is null when the operator acted. */
export type AuditLogRecord = Omit<AuditLogDbRow, "changes"> & { changes: ReadAuditChange[] };

/** Absent filters let everything through. */
export type AuditLogFilter = {
  actorId?: string | undefined;
  actions?: readonly AuditAction[] | undefined;
  targetKind?: AuditTargetKind | undefined;
  /** Public. */
  targetId?: string | undefined;
  /** Milliseconds since the epoch; `to` is not in it. */
  range?: { from: number; to: number } | undefined;
};

/** Newest first. */
function listing(narrowed: string, condition: string): Record<PageRequest["direction"], Statement> {
  const select = (name: string, order: string): Statement => ({
    name: `audit-log.${narrowed}.${name}`,
    text: `
      SELECT ${FIELDS} FROM audit_log
      WHERE id < coalesce($1::bigint, 9223372036854775807) AND id > coalesce($2::bigint, 0)
        AND ${condition}
        AND ($6::text[] IS NULL OR action = ANY($6::text[]))
        AND ($7::timestamptz IS NULL OR at >= $7) AND ($8::timestamptz IS NULL OR at < $8)
      ORDER BY id ${order} LIMIT $9`,
  });
  return { forwards: select("forwards", "DESC"), backwards: select("backwards", "ASC") };
}

const KIND = "($4::text IS NULL OR target_kind = $4)";
const TARGET = "($5::text IS NULL OR target_id = $5)";
const ACTOR = "($3::uuid IS NULL OR actor_id = $3)";

/** Each finds its rows by an index of its own: audit_log_target_idx, audit_log_actor_idx, audit_log_pkey. */
const LIST = {
  target: listing("of-target", `target_kind = $4 AND target_id = $5 AND ${ACTOR}`),
  actor: listing("of-actor", `actor_id = $3 AND ${KIND} AND ${TARGET}`),
  all: listing("all", `${ACTOR} AND ${KIND} AND ${TARGET}`),
};

/** Newest first. Throws `Forbidden` unless the viewer is an admin. */
export async function listAuditLog(
  db: Queryable,
  viewer: Viewer,
  { filter, page }: { filter: AuditLogFilter; page: PageRequest },
): Promise<Page<AuditLogRecord>> {
  demandAdmin(viewer);
  const { actorId, actions, targetKind, targetId, range } = filter;
  const narrowed =
    targetKind !== undefined && targetId !== undefined ? "target" : actorId !== undefined ? "actor" : "all";
  const rows = await db.query<AuditLogDbRow>(LIST[narrowed][page.direction], [
    page.after?.id ?? null,
    page.before?.id ?? null,
    actorId ?? null,
    targetKind ?? null,
    targetId ?? null,
    actions ?? null,
    range === undefined ? null : new Date(range.from),
    range === undefined ? null : new Date(range.to),
    page.limit + 1,
  ]);
  return toPage(
    page,
    rows.map((row) => ({ cursor: { key: row.id, id: row.id }, row: toRecord(row) })),
  );
}

const FIND: Statement = {
  name: "audit-log.find",
  text: `SELECT ${FIELDS} FROM audit_log WHERE id = $1`,
};

/** Null when there is no such entry, or the viewer is no admin. */
export async function findAuditLogEntry(
  db: Queryable,
  viewer: Viewer,
  id: string,
): Promise<AuditLogRecord | null> {
  if (viewer.role !== "admin") return null;
  const [found] = await db.query<AuditLogDbRow>(FIND, [id]);
  return found ? toRecord(found) : null;
}

function toRecord(row: AuditLogDbRow): AuditLogRecord {
  return { ...row, changes: readAuditChanges(fromJsonb(row.changes)) };
}
