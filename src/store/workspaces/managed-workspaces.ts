/**
 * Workspaces made from templates, and the lifecycle work on them. Times come from the caller's clock, in milliseconds;
 * work is done under a claim, and a claim that is not renewed expires, so that another replica continues.
 */
import type { JsonObject } from "../../domain/common/json.js";
import { MIN_TTL_MS, type WorkingStatus } from "../../domain/workspaces/workspace-lifecycle.js";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import { WorkspaceEntity } from "./workspace.entity.js";
import type { Queryable, Statement } from "../common/database.js";
import { type Selected, selectionOf } from "../common/entity-columns.js";
import { toJsonb } from "../common/jsonb-text.js";

const managed = selectionOf(WorkspaceEntity, "w", [
  ...(["id", "ownerId", "name", "provisioner", "directory", "spec", "parameters"] as const),
]);

/** A workspace as its provisioner needs it. Local: a null `directory` means that it has never been created. */
export type ManagedWorkspace = Omit<ReturnType<(typeof managed)["read"]>, "spec" | "parameters"> & {
  spec: JsonObject;
  parameters: Record<string, string>;
};

type ManagedDbRow = Selected<ReturnType<(typeof managed)["read"]>>;
const managedColumns = managed.columns;

function toManaged(row: ManagedDbRow): ManagedWorkspace {
  const workspace = managed.read(row);
  return { ...workspace, spec: workspace.spec ?? {}, parameters: workspace.parameters ?? {} };
}

/** Claimed work. `tries`: consecutive failures. */
export type ClaimedWork = {
  workspace: ManagedWorkspace;
  status: WorkingStatus;
  beganAt: number;
  tries: number;
  claim: string;
};

/** Index: workspaces_pkey. */
const READ: Statement = {
  name: "managed-workspaces.read",
  text: `SELECT ${managedColumns} FROM workspaces w WHERE w.id = $1 AND w.template_id IS NOT NULL`,
};

export async function readManagedWorkspace(db: Queryable, id: string): Promise<ManagedWorkspace | null> {
  const [row] = await db.query<ManagedDbRow>(READ, [id]);
  return row ? toManaged(row) : null;
}

// ── created by users and models ──────────────────────────────────────────────

/** Both unique constraints are conflicts: the caller checks which one it was. */
const INSERT: Statement = {
  name: "managed-workspaces.insert",
  text: `INSERT INTO workspaces (id, owner_id, name, provisioner, status, template_id, spec, parameters, creation_key,
      work_began_at, work_due_at, created_at, last_used_at)
    SELECT $1, $2, $3, t.provisioner, 'creating', t.id, t.spec, $5::jsonb, $6, $7, $7, $7, $7
    FROM workspace_templates t WHERE t.id = $4
    ON CONFLICT DO NOTHING RETURNING id`,
};

export type NewWorkspace = {
  id: string;
  ownerId: string;
  name: string;
  templateId: string;
  parameters: Record<string, string>;
  creationKey: string | null;
};

/** False when its owner has one of that name from a template, or the key was used before. */
export async function insertManagedWorkspace(
  db: Queryable,
  { id, ownerId, name, templateId, parameters, creationKey }: NewWorkspace,
  now: number,
): Promise<boolean> {
  const values = [id, ownerId, name, templateId, toJsonb(parameters), creationKey, new Date(now)];
  return (await db.query(INSERT, values)).length > 0;
}

/** Index: workspaces_creation_key_key. */
const BY_KEY: Statement = {
  name: "managed-workspaces.by-key",
  text: "SELECT id FROM workspaces WHERE creation_key = $1 AND owner_id = $2",
};

/** The workspace that a request with that key created; null when there is none, or it was deleted. */
export async function findCreated(db: Queryable, key: string, ownerId: string): Promise<string | null> {
  const [row] = await db.query<{ id: string }>(BY_KEY, [key, ownerId]);
  return row?.id ?? null;
}

/** Index: workspaces_managed_name_key. */
const COUNT: Statement = {
  name: "managed-workspaces.count",
  text: "SELECT count(*)::int AS count FROM workspaces WHERE owner_id = $1 AND template_id IS NOT NULL",
};

export async function countManagedWorkspaces(db: Queryable, ownerId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(COUNT, [ownerId]);
  return row?.count ?? 0;
}

/** Index: workspaces_pkey. */
const LOCK: Statement = {
  name: "managed-workspaces.lock",
  text: "SELECT status FROM workspaces WHERE id = $1 AND template_id IS NOT NULL FOR UPDATE",
};

/** Its status, locked until the transaction ends; null when it is gone. */
export async function lockStatus(transaction: Queryable, id: string): Promise<WorkspaceStatus | null> {
  const [row] = await transaction.query<{ status: WorkspaceStatus }>(LOCK, [id]);
  return row?.status ?? null;
}

/** The claim stays: work on the former desired state finishes its step, then this one is worked on. */
const BEGIN: Statement = {
  name: "managed-workspaces.begin",
  text: `UPDATE workspaces SET status = $2, failure = NULL, work_began_at = $3, work_due_at = $3, work_tries = 0
    WHERE id = $1`,
};

/** From now on there is work to do until it is so. */
export async function beginWork(
  transaction: Queryable,
  id: string,
  status: WorkingStatus,
  now: number,
): Promise<void> {
  await transaction.query(BEGIN, [id, status, new Date(now)]);
}

/** Index: chats_pkey. Metadata like a chat's labels: no transition, and no work is disturbed. */
const BIND: Statement = {
  name: "managed-workspaces.bind",
  text: "UPDATE chats SET workspace_id = $2 WHERE id = $1",
};

/** The chat works there from now on. */
export async function bindWorkspace(db: Queryable, chatId: string, workspaceId: string): Promise<void> {
  await db.query(BIND, [chatId, workspaceId]);
}

// ── the work ────────────────────────────────────────────────────────────────

/** Index: workspaces_work_idx. */
const CLAIM: Statement = {
  name: "managed-workspaces.claim",
  text: `WITH due AS (
      SELECT id FROM workspaces
      WHERE work_due_at <= $1 AND (work_claimed_until IS NULL OR work_claimed_until <= $1)
      ORDER BY work_due_at LIMIT $4 FOR UPDATE SKIP LOCKED)
    UPDATE workspaces w SET work_claim = $2, work_claimed_until = $1::timestamptz + $3 * interval '1 millisecond'
    FROM due WHERE w.id = due.id
    RETURNING ${managedColumns}, w.status, w.work_began_at, w.work_tries, w.work_claim`,
};

/** Claims up to `limit` due workspaces without a claim, for `leaseMs`. */
export async function claimWork(
  db: Queryable,
  { claim, now, leaseMs, limit }: { claim: string; now: number; leaseMs: number; limit: number },
): Promise<ClaimedWork[]> {
  type Row = ManagedDbRow & {
    status: WorkingStatus;
    work_began_at: Date;
    work_tries: number;
    work_claim: string;
  };
  const rows = await db.query<Row>(CLAIM, [new Date(now), claim, leaseMs, limit]);
  return rows.map((row) => ({
    workspace: toManaged(row),
    status: row.status,
    beganAt: row.work_began_at.getTime(),
    tries: row.work_tries,
    claim: row.work_claim,
  }));
}

const RENEW: Statement = {
  name: "managed-workspaces.renew",
  text: `UPDATE workspaces SET work_claimed_until = $3::timestamptz + $4 * interval '1 millisecond'
    WHERE id = $1 AND work_claim = $2`,
};

type Mine = { id: string; claim: string };

export async function renewClaim(
  db: Queryable,
  { id, claim }: Mine,
  now: number,
  leaseMs: number,
): Promise<void> {
  await db.query(RENEW, [id, claim, new Date(now), leaseMs]);
}

/** The result for a desired state that was replaced meanwhile is of no interest: then only the claim ends. */
const REST: Statement = {
  name: "managed-workspaces.rest",
  text: `UPDATE workspaces SET work_claim = NULL, work_claimed_until = NULL,
      status = CASE WHEN status = $3 THEN $4 ELSE status END,
      failure = CASE WHEN status = $3 THEN $5 ELSE failure END,
      work_due_at = CASE WHEN status = $3 THEN NULL ELSE work_due_at END,
      last_used_at = CASE WHEN status = $3 AND $4 = 'running' THEN $6 ELSE last_used_at END
    WHERE id = $1 AND work_claim = $2 RETURNING status`,
};

/** The work has come to an end, one way or the other. The claim ends. */
export async function settleWork(
  db: Queryable,
  { id, claim, from, status, failure }: Mine & Settled,
  now: number,
): Promise<void> {
  await db.query(REST, [id, claim, from, status, failure, new Date(now)]);
}
type Settled = { from: WorkingStatus; status: "running" | "stopped" | "failed"; failure: string | null };

const AGAIN: Statement = {
  name: "managed-workspaces.again",
  text: `UPDATE workspaces SET work_claim = NULL, work_claimed_until = NULL,
      work_due_at = CASE WHEN status = $3 THEN $4 ELSE work_due_at END,
      work_tries = CASE WHEN status = $3 THEN $5 ELSE work_tries END
    WHERE id = $1 AND work_claim = $2`,
};

/** Schedules another try, by any replica. The claim ends. */
export async function postponeWork(
  db: Queryable,
  { id, claim, from, dueAt, tries }: Mine & { from: WorkingStatus; dueAt: number; tries: number },
): Promise<void> {
  await db.query(AGAIN, [id, claim, from, new Date(dueAt), tries]);
}

const GONE: Statement = {
  name: "managed-workspaces.gone",
  text: "DELETE FROM workspaces WHERE id = $1 AND work_claim = $2 AND status = 'deleting'",
};

/** Its chats stay, without a workspace. */
export async function forgetWorkspace(db: Queryable, { id, claim }: Mine): Promise<void> {
  await db.query(GONE, [id, claim]);
}

const SET_DIRECTORY: Statement = {
  name: "managed-workspaces.set-directory",
  text: "UPDATE workspaces SET directory = $2 WHERE id = $1",
};

export async function setDirectory(db: Queryable, id: string, directory: string): Promise<void> {
  await db.query(SET_DIRECTORY, [id, directory]);
}

const SET_TOKEN: Statement = {
  name: "managed-workspaces.set-token",
  text: `UPDATE workspaces SET agent_token_hash = $2, agent_registration = NULL, agent_expires_at = NULL WHERE id = $1`,
};

/** Null = no agent is accepted any more; another token puts the former agent out. */
export async function setAgentToken(db: Queryable, id: string, tokenHash: Buffer | null): Promise<void> {
  await db.query(SET_TOKEN, [id, tokenHash]);
}

// ── idle ones, and those that vanished ──────────────────────────────────────

/**
 * The same law as `effectiveTtlMs`. A workspace where a turn runs is in use, however long ago that was noted. Indexes:
 * workspaces_template_idx, chats_worker_idx.
 */
const STOP_IDLE: Statement = {
  name: "managed-workspaces.stop-idle",
  text: `UPDATE workspaces w SET status = 'stopping', failure = NULL, work_began_at = $1, work_due_at = $1, work_tries = 0
    FROM (SELECT id, CASE WHEN allow_ttl_override AND $2::bigint IS NOT NULL THEN $2::bigint ELSE default_ttl_ms END
      AS ttl_ms FROM workspace_templates) t
    WHERE w.template_id = t.id AND w.status = 'running' AND t.ttl_ms IS NOT NULL
      AND w.last_used_at + greatest(t.ttl_ms, ${MIN_TTL_MS}) * interval '1 millisecond' <= $1
      AND NOT EXISTS (SELECT FROM chats c WHERE c.worker_id IS NOT NULL AND c.workspace_id = w.id)
    RETURNING w.id`,
};

/** Begins to stop workspaces that were not used for their time to live. Returns their ids. */
export async function stopIdle(
  db: Queryable,
  deploymentTtlMs: number | null,
  now: number,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(STOP_IDLE, [new Date(now), deploymentTtlMs]);
  return rows.map(({ id }) => id);
}

/** Index: workspaces_template_idx. */
const UNSEEN: Statement = {
  name: "managed-workspaces.unseen",
  text: `SELECT ${managedColumns} FROM workspaces w
    WHERE w.template_id IS NOT NULL AND w.status = 'running' AND w.agent_token_hash IS NOT NULL
      AND coalesce(w.agent_expires_at <= now(), true) ORDER BY w.id LIMIT $1`,
};

/** Running workspaces whose agents are not registered. */
export async function listUnseen(db: Queryable, limit: number): Promise<ManagedWorkspace[]> {
  return (await db.query<ManagedDbRow>(UNSEEN, [limit])).map(toManaged);
}

const FAIL: Statement = {
  name: "managed-workspaces.fail",
  text: "UPDATE workspaces SET status = 'failed', failure = $2 WHERE id = $1 AND status = 'running' RETURNING id",
};

/** Marks a running workspace as failed. False when it is not running any more. */
export async function failRunning(db: Queryable, id: string, failure: string): Promise<boolean> {
  return (await db.query(FAIL, [id, failure])).length > 0;
}

/** Index: workspaces_pkey. */
const USABLE: Statement = {
  name: "managed-workspaces.usable",
  text: `SELECT id FROM workspaces WHERE id = ANY($1::uuid[]) AND status IN ('creating', 'starting', 'running')`,
};

/** The workspaces whose agents may run now. */
export async function listUsable(db: Queryable, ids: readonly string[]): Promise<Set<string>> {
  return new Set((await db.query<{ id: string }>(USABLE, [ids])).map(({ id }) => id));
}
