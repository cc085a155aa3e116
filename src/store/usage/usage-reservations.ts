/**
 * What model calls under way may cost at most, held against their owner's limit until what they cost is counted. Of one
 * person they are taken one after the other, however many replicas take them; nobody without a limit has any.
 */
import type { LimitStatus } from "../../domain/usage/usage-limits.js";
import type { Database, Queryable, Statement } from "../common/database.js";
import { periodDays, standingText, type StandingDbRow, toStanding } from "./usage-limits.js";

/** With a person's own number it serialises what is asked for that person; any fixed number does. */
const HOLD_LOCK = 7_276_011;

export type HoldRequest = {
  id: string;
  ownerId: string;
  /** The hold ends with this worker's lease; null = it is no worker's. */
  workerId: string | null;
  /** More than 0. */
  micros: bigint;
  /** After so many milliseconds it ends whatever happens; by the database's clock. */
  lifeMs: number;
  /** Milliseconds since the epoch. */
  now: number;
};

/** `isTaken`: false when the limit does not allow it now, and when there is no limit. */
export type HoldAnswer = { isTaken: boolean; standing: LimitStatus };

/**
 * Takes the hold if what is spent and what others hold stays below the person's limit. So all calls together cost at
 * most what the last of them does over the limit. Holds that nobody will give back are taken away on the way.
 */
export async function takeReservation(database: Database, request: HoldRequest): Promise<HoldAnswer> {
  demandLiterals(request);
  const owner = `'${request.ownerId}'::uuid`;
  const rows = await database.script<StandingDbRow & { is_taken: boolean }>([
    // One bit pattern per person; those who share one only wait for each other.
    `SELECT pg_advisory_xact_lock(${HOLD_LOCK}, hashtext('${request.ownerId}'))`,
    // Indexes: usage_holds_owner_idx, worker_leases_pkey.
    `DELETE FROM usage_holds h WHERE h.owner_id = ${owner} AND (h.expires_at <= now() OR (h.worker_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM worker_leases l WHERE l.worker_id = h.worker_id AND l.expires_at > now())))`,
    takeText(request, owner),
  ]);
  return { isTaken: rows[0]?.is_taken ?? false, standing: toStanding(rows[0], request.now) };
}

// Index: usage_holds_owner_idx. `sum` is numeric, which cannot overflow.
function takeText({ id, workerId, micros, lifeMs, now }: HoldRequest, owner: string): string {
  const { from, to } = periodDays(now);
  const days = { from: `'{${from.join(",")}}'::date[]`, to: `'{${to.join(",")}}'::date[]` };
  const worker = workerId === null ? "NULL" : `'${workerId}'`;
  return `WITH standing AS (${standingText(owner, days)}),
    held AS (SELECT coalesce(sum(micros), 0) AS micros FROM usage_holds WHERE owner_id = ${owner}),
    taken AS (
      INSERT INTO usage_holds (id, owner_id, worker_id, micros, expires_at)
      SELECT '${id}', ${owner}, ${worker}::uuid, ${micros}, now() + ${lifeMs} * interval '1 millisecond'
      FROM standing s, held
      WHERE s.is_enabled AND s.spent_micros + held.micros < coalesce(s.own_limit_micros, s.default_limit_micros)
      RETURNING id)
    SELECT standing.*, EXISTS (SELECT 1 FROM taken) AS is_taken FROM standing`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** They become part of a statement's text. */
function demandLiterals({ id, ownerId, workerId, micros, lifeMs }: HoldRequest): void {
  const ids = [id, ownerId, ...(workerId === null ? [] : [workerId])];
  const isSafe =
    ids.every((it) => UUID.test(it)) && typeof micros === "bigint" && Number.isSafeInteger(lifeMs);
  if (!isSafe || micros <= 0n) throw new Error("A hold is asked for with UUIDs and a sum above 0.");
}

const DROP: Statement = { name: "usage-holds.drop", text: "DELETE FROM usage_holds WHERE id = $1" };

/** What was held for is counted now, or cost nothing. */
export async function dropHold(db: Queryable, id: string): Promise<void> {
  await db.query(DROP, [id]);
}
