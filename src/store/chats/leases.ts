/**
 * Claims of chats by workers, and workers' leases. A lease is one row that its worker renews; the database's clock decides
 * whether it is alive, so replicas whose clocks differ agree. Chats are claimed in batches, each by one worker only, and
 * only while the worker's own lease is alive: a worker without a lease has lost its chats.
 */
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { Database, Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { ChatEntity } from "./chat.entity.js";
import { STATE_PROPERTIES, toChatState, type ChatStateDbRow } from "./rows.js";

const METADATA = [
  ...(["ownerId", "modelConfigId", "workspaceId", "reasoningEffort", "clientTools"] as const),
  ...(["mcpServerIds", "parentChatId", "subagentKind", "depth"] as const),
] as const;

const metadata = selectionOf(ChatEntity, "c", METADATA);

/** A chat that a worker has claimed: its state after the claim, and the metadata that a turn works with. */
export type ClaimedChat = ReturnType<(typeof metadata)["read"]> & {
  chatId: string;
  /** The chat of the family that a user started; the chat itself if it is that one. */
  rootChatId: string;
  /** Since the chat's last change, by the database's clock; for a pending chat, since it became pending. */
  waitedSeconds: number;
  state: ChatState;
};

type ClaimedDbRow = Selected<ReturnType<(typeof metadata)["read"]>> &
  ChatStateDbRow &
  Pick<ChatEntity, "id" | "rootChatId"> & { waitedSeconds: number };

const PROPERTIES = new Set([...(["id", "rootChatId"] as const), ...METADATA, ...STATE_PROPERTIES]);
const claimedColumns = `${selectionOf(ChatEntity, "c", [...PROPERTIES]).columns},
  extract(epoch FROM clock_timestamp() - c.updated_at)::float8 AS "waitedSeconds"`;

const toClaimedChat: (row: ClaimedDbRow) => ClaimedChat = metadata.readWith({
  chatId: ({ id }: ClaimedDbRow) => id,
  rootChatId: ({ id, rootChatId }: ClaimedDbRow) => rootChatId ?? id,
  waitedSeconds: ({ waitedSeconds }: ClaimedDbRow) => waitedSeconds,
  state: (row: ClaimedDbRow) => toChatState(row),
});

/** Evaluated when the statement runs, after any wait for a lock: `now()` is when it was sent. */
const hasLease = (workerId: string) =>
  `EXISTS (SELECT 1 FROM worker_leases o WHERE o.worker_id = ${workerId} AND o.expires_at > clock_timestamp())`;

// The resulting state equals that of `acquire` in src/domain/chats/chat-lifecycle.ts; a test compares them.
const acquireCandidates = (
  workerId: string,
) => `UPDATE chats c SET status = 'running', worker_id = ${workerId},
      runner_id = gen_random_uuid(), attempt = c.attempt + 1, generation_started_at = now(),
      snapshot_version = c.snapshot_version + 1, status_version = c.snapshot_version + 1
    FROM candidate WHERE c.id = candidate.id RETURNING ${claimedColumns}`;

// Index: chats_pending_idx.
const ACQUIRE_PENDING: Statement = {
  name: "chats-acquire-pending",
  text: `WITH candidate AS (
      SELECT id FROM chats WHERE status = 'pending' AND archived_at IS NULL AND ${hasLease("$1")}
      ORDER BY updated_at, id LIMIT $2 FOR UPDATE SKIP LOCKED)
    ${acquireCandidates("$1")}`,
};

/**
 * Chats that may run at the same time on all replicas together; 0 = no limit. A chat and its subagents count as one:
 * while any of them runs the others need no slot, or a chat that waits for its subagents would keep them from starting.
 */
export type RunningLimits = { chats: number; chatsPerUser: number };

/** Advisory lock for counting running chats and claiming others; any fixed number does. */
export const ACQUIRE_LOCK = 7_276_004;
const NO_LIMIT = 2_147_483_647;

/**
 * Indexes: chats_worker_idx, chats_pending_idx. `rank`: the number of running chats that the owner would have with this
 * one. Lower ranks come first, and of each user the longest waiting. It is 0 for chats whose family runs already; those
 * come first, and are no more than a family has.
 */
function acquireWithinText(workerId: string, limit: number, limits: RunningLimits): string {
  return `WITH families AS (
      SELECT DISTINCT owner_id, coalesce(root_chat_id, id) AS root_id FROM chats
      WHERE worker_id IS NOT NULL AND status = 'running'),
    running AS (SELECT owner_id, count(*) AS chats FROM families GROUP BY owner_id),
    waiting AS (
      SELECT p.id, p.owner_id, p.updated_at, f.root_id IS NOT NULL AS is_free
      FROM chats p LEFT JOIN families f ON f.root_id = coalesce(p.root_chat_id, p.id)
      WHERE p.status = 'pending' AND p.archived_at IS NULL),
    ranked AS (
      SELECT p.id, p.updated_at, CASE WHEN p.is_free THEN 0 ELSE coalesce(r.chats, 0)
        + row_number() OVER (PARTITION BY p.owner_id, p.is_free ORDER BY p.updated_at, p.id) END AS rank
      FROM waiting p LEFT JOIN running r ON r.owner_id = p.owner_id),
    admitted AS (
      SELECT id, rank, updated_at FROM ranked
      WHERE rank BETWEEN 1 AND ${limits.chatsPerUser || NO_LIMIT} ORDER BY rank, updated_at, id
      LIMIT greatest(0, least(${limit}, ${limits.chats || NO_LIMIT} - (SELECT coalesce(sum(chats), 0) FROM running)))),
    chosen AS (
      SELECT id FROM (
        SELECT id, rank, updated_at FROM ranked WHERE rank = 0 UNION ALL SELECT id, rank, updated_at FROM admitted) c
      ORDER BY rank, updated_at, id LIMIT ${limit}),
    candidate AS (
      SELECT id FROM chats WHERE id IN (SELECT id FROM chosen) AND status = 'pending' AND archived_at IS NULL
        AND ${hasLease(`'${workerId}'`)}
      FOR UPDATE SKIP LOCKED)
    ${acquireCandidates(`'${workerId}'`)}`;
}

// Index: chats_worker_idx. `$3`: chats that the database assigns to this worker but that it does not run; its other chats
// are never lost, even when its lease ends meanwhile. Leases of others are compared with when the statement was sent: one
// that was renewed meanwhile counts as alive.
const ACQUIRE_LOST: Statement = {
  name: "chats-acquire-lost",
  text: `WITH candidate AS (
      SELECT id FROM chats WHERE worker_id IS NOT NULL AND ${hasLease("$1")}
        AND ((worker_id = $1 AND id = ANY ($3::uuid[])) OR (worker_id <> $1 AND NOT EXISTS (
          SELECT 1 FROM worker_leases l WHERE l.worker_id = chats.worker_id AND l.expires_at > now())))
      ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
    UPDATE chats c SET worker_id = $1, runner_id = gen_random_uuid(), snapshot_version = c.snapshot_version + 1,
      attempt = c.attempt + CASE c.status WHEN 'running' THEN 1 ELSE 0 END, retry_state = NULL,
      generation_started_at = CASE c.status WHEN 'running' THEN now() ELSE c.generation_started_at END,
      retry_version = CASE WHEN c.retry_state IS NULL THEN c.retry_version ELSE c.snapshot_version + 1 END
    FROM candidate WHERE c.id = candidate.id RETURNING ${claimedColumns}`,
};

// Writes only the lease, so that slow or locked rows elsewhere never delay its renewal.
const RENEW: Statement = {
  name: "lease-renew",
  text: `WITH old AS (SELECT expires_at > clock_timestamp() AS is_alive FROM worker_leases WHERE worker_id = $1),
    renewed AS (
      INSERT INTO worker_leases (worker_id, expires_at)
      VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
      ON CONFLICT (worker_id) DO UPDATE SET expires_at = excluded.expires_at)
    SELECT coalesce((SELECT is_alive FROM old), false) AS was_alive`,
};

const CLAIMED: Statement = {
  name: "chats-claimed",
  text: `SELECT ${claimedColumns} FROM chats c WHERE c.worker_id = $1`,
};

const DROP: Statement = { name: "lease-drop", text: `DELETE FROM worker_leases WHERE worker_id = $1` };

// A lease this long dead has no chats left: ACQUIRE_LOST has moved them to living workers.
const FORGET_DEAD: Statement = {
  name: "lease-forget-dead",
  text: `DELETE FROM worker_leases l WHERE l.expires_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT 1 FROM chats c WHERE c.worker_id = l.worker_id)`,
};

const PAST_DEADLINE: Statement = {
  name: "chats-past-deadline",
  text: `SELECT id FROM chats WHERE action_deadline_at <= $1 ORDER BY action_deadline_at LIMIT $2`,
};

/** Claims up to `limit` pending chats, the longest waiting first; none while the worker's own lease is not alive. */
export async function acquirePending(
  queryable: Queryable,
  workerId: string,
  limit: number,
): Promise<ClaimedChat[]> {
  return (await queryable.query<ClaimedDbRow>(ACQUIRE_PENDING, [workerId, limit])).map(toClaimedChat);
}

/**
 * The same within limits: replicas claim one after the other. Fair among users: one user's many chats do not delay the
 * first of another. Only running chats count, so an interrupted chat has released its slot; chats of dead workers are
 * taken over without regard to the limits.
 */
export async function acquirePendingWithin(
  database: Database,
  workerId: string,
  limit: number,
  limits: RunningLimits,
): Promise<ClaimedChat[]> {
  const numbers = [limit, limits.chats, limits.chatsPerUser];
  // They become part of a statement's text.
  if (!UUID.test(workerId) || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw new Error("A worker's id must be a UUID, and limits whole numbers.");
  }
  const lock = `SELECT pg_advisory_xact_lock(${ACQUIRE_LOCK})`;
  const rows = await database.script<ClaimedDbRow>([lock, acquireWithinText(workerId, limit, limits)]);
  return rows.map(toClaimedChat);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Takes over up to `limit` chats whose worker is dead, and of this worker's own only `orphans`. */
export async function acquireLost(
  queryable: Queryable,
  workerId: string,
  limit: number,
  orphans: string[],
): Promise<ClaimedChat[]> {
  return (await queryable.query<ClaimedDbRow>(ACQUIRE_LOST, [workerId, limit, orphans])).map(toClaimedChat);
}

/** Extends the lease to `leaseMs` from now. False when it had expired or did not exist: others may have its chats. */
export async function renewLease(queryable: Queryable, workerId: string, leaseMs: number): Promise<boolean> {
  const [row] = await queryable.query<{ was_alive: boolean }>(RENEW, [workerId, leaseMs]);
  return row?.was_alive ?? false;
}

/** Every chat that is claimed by this worker, according to the database. */
export async function readClaimedChats(queryable: Queryable, workerId: string): Promise<ClaimedChat[]> {
  return (await queryable.query<ClaimedDbRow>(CLAIMED, [workerId])).map(toClaimedChat);
}

/** Ends the lease: the worker's chats may be taken over at once. */
export async function dropLease(queryable: Queryable, workerId: string): Promise<void> {
  await queryable.query(DROP, [workerId]);
}

/** The name under which PostgreSQL lists a worker's lease connection. */
export const leaseConnectionName = (workerId: string): string => `parley worker ${workerId}`;

// The user's own connections are always in sight in pg_stat_activity.
const END_UNCONNECTED: Statement = {
  name: "lease-end-unconnected",
  text: `DELETE FROM worker_leases l WHERE NOT EXISTS (
      SELECT 1 FROM pg_stat_activity a
      WHERE a.application_name = 'parley worker ' || l.worker_id AND a.datname = current_database())
    RETURNING worker_id`,
};

/**
 * Ends the leases of workers that have no connection to the database any more; returns how many. Only where a worker's
 * process is connected directly, so that its end closes its connection: with the embedded database. A living worker that
 * is reconnecting loses its chats to others, and renews its lease.
 */
export async function endUnconnectedLeases(queryable: Queryable): Promise<number> {
  return (await queryable.query(END_UNCONNECTED, [])).length;
}

export async function forgetDeadLeases(queryable: Queryable): Promise<void> {
  await queryable.query(FORGET_DEAD, []);
}

/** Chats whose client has not answered its calls by `now` (milliseconds). */
export async function chatsPastDeadline(queryable: Queryable, now: number, limit: number): Promise<string[]> {
  const rows = await queryable.query<{ id: string }>(PAST_DEADLINE, [new Date(now), limit]);
  return rows.map((row) => row.id);
}
