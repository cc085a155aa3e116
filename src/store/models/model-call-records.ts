/** Recorded model calls, with prompts and answers: written beside turns, read by admins, deleted after some days. */
import { demandAdmin, type Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { Parameters, type Selected, selectionOf, writtenColumns } from "../common/entity-columns.js";
import { ModelCallRecordEntity } from "./model-call-record.entity.js";
import { type Page, type PageRequest, toPage } from "../common/pages.js";

const WRITTEN = [
  ...([
    "chatId",
    "generation",
    "attempt",
    "purpose",
    "provider",
    "model",
    "startedAt",
    "firstPartMs",
  ] as const),
  ...(["durationMs", "outcome", "request", "response", "isTruncated"] as const),
] as const;

const stored = selectionOf(ModelCallRecordEntity, "", WRITTEN);

export type ModelCallRecord = ReturnType<(typeof stored)["read"]>;

const INSERT = (() => {
  const parameters = new Parameters<ModelCallRecord>();
  const text = `INSERT INTO model_call_records ${parameters.row(writtenColumns(ModelCallRecordEntity, WRITTEN))}`;
  return { parameters, statement: { name: "model-call-records.insert", text } };
})();

export async function insertModelCallRecord(db: Queryable, record: ModelCallRecord): Promise<void> {
  await db.query(INSERT.statement, INSERT.parameters.valuesOf(record));
}

/** Index: model_call_records_chat_idx. */
const listing = (name: string, order: string): Statement => ({
  name: `model-call-records.${name}`,
  text: `
    SELECT id, ${stored.columns}
    FROM model_call_records
    WHERE chat_id = $1 AND id < coalesce($2::bigint, 9223372036854775807) AND id > coalesce($3::bigint, 0)
    ORDER BY id ${order} LIMIT $4`,
});
const LIST: Record<PageRequest["direction"], Statement> = {
  forwards: listing("newest", "DESC"),
  backwards: listing("oldest", "ASC"),
};

/** The records of one chat, newest first. Throws `Forbidden` unless the viewer is an admin. */
export async function listModelCallRecords(
  db: Queryable,
  viewer: Viewer,
  { chatId, page }: { chatId: string; page: PageRequest },
): Promise<Page<ModelCallRecord>> {
  demandAdmin(viewer);
  const { direction, after, before, limit } = page;
  const values = [chatId, after?.id ?? null, before?.id ?? null, limit + 1];
  const rows = await db.query<Selected<ModelCallRecord> & { id: string }>(LIST[direction], values);
  return toPage(
    page,
    rows.map((row) => ({ cursor: { key: row.id, id: row.id }, row: stored.read(row) })),
  );
}

/** Index: model_call_records_age_idx. Replicas that prune at the same time delete different rows. */
const PRUNE: Statement = {
  name: "model-call-records.prune",
  text: `
    WITH pruned AS (
      DELETE FROM model_call_records WHERE id IN (
        SELECT id FROM model_call_records WHERE created_at < $1 ORDER BY created_at LIMIT $2
        FOR UPDATE SKIP LOCKED
      ) RETURNING 1
    )
    SELECT count(*)::integer AS count FROM pruned`,
};

/** Deletes up to `limit` records from before then (milliseconds), oldest first. Returns how many. */
export async function pruneModelCallRecords(db: Queryable, before: number, limit: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(PRUNE, [new Date(before), limit]);
  return row?.count ?? 0;
}

const ANY: Statement = {
  name: "model-call-records.any",
  text: "SELECT EXISTS (SELECT 1 FROM model_call_records) AS found",
};

export async function hasModelCallRecords(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(ANY, []);
  return row?.found ?? false;
}
