/** External workspaces, which an operator creates, with their agents' tokens and registrations. */
import { randomBytes, randomUUID } from "node:crypto";
import type { RegisteredAgent, WorkspaceStatus } from "../../domain/workspaces/workspace.js";
import type { Queryable, Statement } from "../common/database.js";

const TOKEN_BYTES = 32;
const TOKEN_PREFIX = "pla_";
const TOKEN = /^pla_[A-Za-z0-9_-]{43}$/;

/** Whether the text has the form of a token; anything else is not looked up. */
export function isWellFormedAgentToken(token: string): boolean {
  return TOKEN.test(token);
}

/** For the workspace's agent; only its hash is stored. */
export function createAgentToken(): string {
  return TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString("base64url");
}

const INSERT: Statement = {
  name: "external-workspaces.create",
  text: `
    INSERT INTO workspaces (id, owner_id, name, provisioner, status, agent_token_hash)
    VALUES ($1, $2, $3, 'external', 'stopped', $4)
    ON CONFLICT (owner_id, name) WHERE agent_token_hash IS NOT NULL AND template_id IS NULL DO NOTHING
    RETURNING id`,
};

/** The new workspace's id; null when the user has an external workspace of that name. */
export async function createExternalWorkspace(
  db: Queryable,
  input: { ownerId: string; name: string; tokenHash: Buffer },
): Promise<string | null> {
  const values = [randomUUID(), input.ownerId, input.name, input.tokenHash];
  const [row] = await db.query<{ id: string }>(INSERT, values);
  return row?.id ?? null;
}

type Named = { ownerId: string; name: string };

const RENEW_TOKEN: Statement = {
  name: "external-workspaces.renew-token",
  text: `
    UPDATE workspaces SET agent_token_hash = $3, agent_registration = NULL, agent_expires_at = NULL
    WHERE owner_id = $1 AND name = $2 AND agent_token_hash IS NOT NULL AND template_id IS NULL
    RETURNING id`,
};

/** Invalidates the old token and its registration. Returns the workspace's id; null when there is none. */
export async function replaceAgentToken(
  db: Queryable,
  which: Named,
  tokenHash: Buffer,
): Promise<string | null> {
  const [found] = await db.query<{ id: string }>(RENEW_TOKEN, [which.ownerId, which.name, tokenHash]);
  return found?.id ?? null;
}

const REMOVE: Statement = {
  name: "external-workspaces.remove",
  text: `
    DELETE FROM workspaces WHERE owner_id = $1 AND name = $2 AND agent_token_hash IS NOT NULL AND template_id IS NULL
    RETURNING id`,
};

/** Its chats stay, without a workspace. Returns its id; null when there is no such workspace. */
export async function removeExternalWorkspace(db: Queryable, which: Named): Promise<string | null> {
  const [found] = await db.query<{ id: string }>(REMOVE, [which.ownerId, which.name]);
  return found?.id ?? null;
}

export type ExternalWorkspaceLine = { id: string; name: string; owner: string; status: WorkspaceStatus };

const LIST: Statement = {
  name: "external-workspaces.list",
  text: `
    SELECT w.id, w.name, u.username AS owner,
      CASE WHEN w.agent_expires_at > now() THEN 'running' ELSE 'stopped' END AS status
    FROM workspaces w JOIN users u ON u.id = w.owner_id
    WHERE w.agent_token_hash IS NOT NULL AND w.template_id IS NULL ORDER BY u.username, w.name`,
};

/** All external workspaces, for an operator. */
export async function listExternalWorkspaces(db: Queryable): Promise<ExternalWorkspaceLine[]> {
  return db.query<ExternalWorkspaceLine>(LIST, []);
}

const BY_TOKEN: Statement = {
  name: "external-workspaces.by-token",
  text: "SELECT id, name FROM workspaces WHERE agent_token_hash = $1",
};

/** The workspace whose agent token has this hash; null when there is none. */
export async function findWorkspaceOfAgent(
  db: Queryable,
  tokenHash: Buffer,
): Promise<{ id: string; name: string } | null> {
  const [found] = await db.query<{ id: string; name: string }>(BY_TOKEN, [tokenHash]);
  return found ?? null;
}

const TOKEN_HASH: Statement = {
  name: "external-workspaces.token-hash",
  text: "SELECT agent_token_hash FROM workspaces WHERE id = $1 AND agent_token_hash IS NOT NULL",
};

/** Null when there is no such workspace whose agent calls. */
export async function readAgentTokenHash(db: Queryable, workspaceId: string): Promise<Buffer | null> {
  const [found] = await db.query<{ agent_token_hash: Buffer }>(TOKEN_HASH, [workspaceId]);
  return found?.agent_token_hash ?? null;
}

export type Claim = {
  workspaceId: string;
  /** Of the token that the agent authenticated with: it may have been replaced meanwhile. */
  tokenHash: Buffer;
  registrationId: string;
  agent: RegisteredAgent;
  /** Whether it may replace another living agent. */
  isFirst: boolean;
  leaseMs: number;
};

const CLAIM: Statement = {
  name: "external-workspaces.claim",
  text: `
    UPDATE workspaces SET agent_registration = $3, agent = $4::jsonb,
      agent_expires_at = now() + $6 * interval '1 millisecond'
    WHERE id = $1 AND agent_token_hash = $2
      AND ($5 OR coalesce(agent_expires_at <= now(), true) OR agent ->> 'instanceId' = $4::jsonb ->> 'instanceId')
    RETURNING id`,
};

/** Registers the agent as the workspace's only one. False when another is registered, or the token was replaced. */
export async function claimWorkspace(db: Queryable, claim: Claim): Promise<boolean> {
  const { workspaceId, tokenHash, registrationId, agent, isFirst, leaseMs } = claim;
  const values = [workspaceId, tokenHash, registrationId, JSON.stringify(agent), isFirst, leaseMs];
  return (await db.query(CLAIM, values)).length > 0;
}

const RENEW: Statement = {
  name: "external-workspaces.renew",
  text: `
    UPDATE workspaces SET agent_expires_at = now() + $2 * interval '1 millisecond'
    WHERE agent_registration = ANY($1::uuid[])
    RETURNING agent_registration`,
};

/** Extends the leases. Returns the registrations that are still valid. */
export async function renewRegistrations(
  db: Queryable,
  registrationIds: readonly string[],
  leaseMs: number,
): Promise<Set<string>> {
  const rows = await db.query<{ agent_registration: string }>(RENEW, [registrationIds, leaseMs]);
  return new Set(rows.map((row) => row.agent_registration));
}

const RELEASE: Statement = {
  name: "external-workspaces.release",
  text: "UPDATE workspaces SET agent_expires_at = NULL WHERE agent_registration = $1",
};

/** Ends the registration. No effect when another one has replaced it. */
export async function releaseRegistration(db: Queryable, registrationId: string): Promise<void> {
  await db.query(RELEASE, [registrationId]);
}

const EXPECTED: Statement = {
  name: "external-workspaces.expected",
  text: "SELECT 1 AS one FROM workspaces WHERE id = $1 AND agent_expires_at > now()",
};

/** Whether the workspace's agent is registered, or its lease has not expired since it disconnected. */
export async function isAgentExpected(db: Queryable, workspaceId: string): Promise<boolean> {
  return (await db.query(EXPECTED, [workspaceId])).length > 0;
}
