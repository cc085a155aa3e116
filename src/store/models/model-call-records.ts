/** Records of what models were asked and answered: written beside turns, read by admins, gone after some days. */
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { StepOutcome } from "../../domain/common/meters.js";
import type { ModelCallPurpose } from "../../domain/models/model-calls.js";
import { demandAdmin, type Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { fromJsonb, toJsonb } from "../common/jsonb-text.js";
import { type Page, type PageRequest, toPage } from "../common/pages.js";

export type ModelCallRecord = {
  chatId: string;
  /** Of the message that was asked for; null = of none, such as a title. */
  generation: string | null;
  attempt: number;
  purpose: ModelCallPurpose;
  provider: ModelProviderKind;
  model: string;
  startedAt: Date;
  /** Null = no part came, or nobody looked. */
  firstPartMs: number | null;
  durationMs: number;
  outcome: StepOutcome;
  request: JsonObject;
  response: JsonObject;
  /** Request or response were too large and have lost parts. */
  isTruncated: boolean;
};

const INSERT: Statement = {
  name: "model-call-records.insert",
  text: `
    INSERT INTO model_call_records (chat_id, generation, attempt, purpose, provider, model, started_at,
      first_part_ms, duration_ms, outcome, request, response, is_cut)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
};

export async function insertModelCallRecord(db: Queryable, record: ModelCallRecord): Promise<void> {
  await db.query(INSERT, [
    record.chatId,
    record.generation,
    record.attempt,
    record.purpose,
    record.provider,
    record.model,
    record.startedAt,
    record.firstPartMs,
    record.durationMs,
    record.outcome,
    toJsonb(record.request),
    toJsonb(record.response),
    record.isTruncated,
  ]);
}

/** Index: model_call_records_chat_idx. */
const listing = (name: string, order: string): Statement => ({
  name: `model-call-records.${name}`,
  text: `
    SELECT id, chat_id AS "chatId", generation, attempt, purpose, provider, model, started_at AS "startedAt",
      first_part_ms AS "firstPartMs", duration_ms AS "durationMs", outcome, request, response, is_cut AS "isTruncated"
    FROM model_call_records
    WHERE chat_id = $1 AND id < coalesce($2::bigint, 9223372036854775807) AND id > coalesce($3::bigint, 0)
    ORDER BY id ${order} LIMIT $4`,
});
const LIST: Record<PageRequest["direction"], Statement> = {
  forwards: listing("newest", "DESC"),
  backwards: listing("oldest", "ASC"),
};

/** Of one chat, newest first. For admins: throws `Forbidden` for anybody else. */
export async function listModelCallRecords(
  db: Queryable,
  viewer: Viewer,
  { chatId, page }: { chatId: string; page: PageRequest },
): Promise<Page<ModelCallRecord>> {
  demandAdmin(viewer);
  const { direction, after, before, limit } = page;
  const values = [chatId, after?.id ?? null, before?.id ?? null, limit + 1];
  const rows = await db.query<ModelCallRecord & { id: string }>(LIST[direction], values);
  return toPage(
    page,
    rows.map(({ id, request, response, ...row }) => ({
      place: { key: id, id },
      row: { ...row, request: fromJsonb(request), response: fromJsonb(response) },
    })),
  );
}

/** Index: model_call_records_age_idx. Several replicas at one time each take others. */
const PRUNE: Statement = {
  name: "model-call-records.prune",
  text: `
    WITH gone AS (
      DELETE FROM model_call_records WHERE id IN (
        SELECT id FROM model_call_records WHERE created_at < $1 ORDER BY created_at LIMIT $2
        FOR UPDATE SKIP LOCKED
      ) RETURNING 1
    )
    SELECT count(*)::integer AS count FROM gone`,
};

/** Takes up to `limit` away that were written before then (milliseconds), oldest first; how many those were. */
export async function pruneModelCallRecords(db: Queryable, before: number, limit: number): Promise<number> {
  const [row] = await db.query<{ count: number }>(PRUNE, [new Date(before), limit]);
  return row?.count ?? 0;
}

const ANY: Statement = {
  name: "model-call-records.any",
  text: "SELECT EXISTS (SELECT 1 FROM model_call_records) AS found",
};

/** Whether there is any. */
export async function hasModelCallRecords(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(ANY, []);
  return row?.found ?? false;
}
