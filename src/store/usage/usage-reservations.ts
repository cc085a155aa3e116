/**
 * Reservations: the most that a running model call may cost, counted against its owner's limit until its cost is in the
 * ledger. Those of one user are made one after the other across all replicas. Users without a limit have none.
 */
import type { LimitStatus } from "../../domain/usage/usage-limits.js";
import type { Database, Queryable, Statement } from "../common/database.js";
import { periodDays, limitStatusText, type LimitStatusDbRow, toLimitStatus } from "./usage-limits.js";

/** With a hash of the user's id it serializes reservations of one user; any fixed number does. */
const RESERVATION_LOCK = 7_276_011;

export type ReservationRequest = {
  id: string;
  ownerId: string;
  /** The reservation ends with this worker's lease; null = made outside of workers. */
  workerId: string | null;
  /** More than 0. */
  micros: bigint;
  /** Milliseconds until it expires at the latest, by the database's clock. */
  lifeMs: number;
  /** Milliseconds since the epoch. */
  now: number;
};

/** `isTaken`: false when the limit does not allow it now, and when there is no limit. */
export type ReservationResult = { isTaken: boolean; status: LimitStatus };

/**
 * Reserves when the sum of the spending and the other reservations is below the user's limit. So all calls together
 * exceed it by the cost of the last one at most. Expired reservations, and those of dead workers, are deleted first.
 */
export async function takeReservation(
  database: Database,
  request: ReservationRequest,
): Promise<ReservationResult> {
  requireLiterals(request);
  const owner = `'${request.ownerId}'::uuid`;
  const rows = await database.script<LimitStatusDbRow & { is_taken: boolean }>([
    // Users whose ids have the same hash only wait for each other.
    `SELECT pg_advisory_xact_lock(${RESERVATION_LOCK}, hashtext('${request.ownerId}'))`,
    // Indexes: usage_holds_owner_idx, worker_leases_pkey.
    `DELETE FROM usage_holds h WHERE h.owner_id = ${owner} AND (h.expires_at <= now() OR (h.worker_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM worker_leases l WHERE l.worker_id = h.worker_id AND l.expires_at > now())))`,
    takeText(request, owner),
  ]);
  return { isTaken: rows[0]?.is_taken ?? false, status: toLimitStatus(rows[0], request.now) };
}

// Index: usage_holds_owner_idx. `sum` is numeric, which cannot overflow.
function takeText({ id, workerId, micros, lifeMs, now }: ReservationRequest, owner: string): string {
  const { from, to } = periodDays(now);
  const days = { from: `'{${from.join(",")}}'::date[]`, to: `'{${to.join(",")}}'::date[]` };
  const worker = workerId === null ? "NULL" : `'${workerId}'`;
  return `WITH status AS (${limitStatusText(owner, days)}),
    reserved AS (SELECT coalesce(sum(micros), 0) AS micros FROM usage_holds WHERE owner_id = ${owner}),
    taken AS (
      INSERT INTO usage_holds (id, owner_id, worker_id, micros, expires_at)
      SELECT '${id}', ${owner}, ${worker}::uuid, ${micros}, now() + ${lifeMs} * interval '1 millisecond'
      FROM status s, reserved
      WHERE s."isEnabled" AND s.spent_micros + reserved.micros < coalesce(s.own_limit_micros, s."defaultLimitMicros")
      RETURNING id)
    SELECT status.*, EXISTS (SELECT 1 FROM taken) AS is_taken FROM status`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Rejects values that are not safe within a statement's text. */
function requireLiterals({ id, ownerId, workerId, micros, lifeMs }: ReservationRequest): void {
  const ids = [id, ownerId, ...(workerId === null ? [] : [workerId])];
  const isSafe =
    ids.every((it) => UUID.test(it)) && typeof micros === "bigint" && Number.isSafeInteger(lifeMs);
  if (!isSafe || micros <= 0n) throw new Error("A reservation needs UUIDs and a sum above 0.");
}

const RELEASE: Statement = {
  name: "usage-reservations.release",
  text: "DELETE FROM usage_holds WHERE id = $1",
};

/** Releases a reservation, after the call's cost was counted or when it cost nothing. */
export async function releaseReservation(db: Queryable, id: string): Promise<void> {
  await db.query(RELEASE, [id]);
}
