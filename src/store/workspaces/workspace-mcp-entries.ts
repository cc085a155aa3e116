/** Entries of workspaces' `.mcp.json`: requests for permission, as agents report them, and what users have allowed. */
import type { WorkspaceMcpEntry } from "../../domain/mcp/workspace-entry.js";
import type { Queryable, Statement } from "../common/database.js";
import { selectionOf } from "../common/entity-columns.js";
import { toJsonb } from "../common/jsonb-text.js";
import { WorkspaceMcpEntryEntity } from "./workspace-mcp-entry.entity.js";

const entry = selectionOf(WorkspaceMcpEntryEntity, "", [
  ...(["hash", "entry", "configFile", "linkTarget", "requestedAt", "allowedAt", "allowedBy"] as const),
]);

/** Times in milliseconds since the epoch; `allowedAt` is null while permission is asked for. */
export type WorkspaceMcpEntryRecord = ReturnType<(typeof entry)["read"]>;

/** Index: workspace_mcp_entries_pkey. The collation is that of hashes, which are ASCII. */
const LIST: Statement = {
  name: "workspace-mcp-entries.list",
  text: `SELECT ${entry.columns} FROM workspace_mcp_entries WHERE workspace_id = $1 ORDER BY requested_at, hash`,
};

/** In the order in which they were first requested. */
export async function listMcpEntries(db: Queryable, workspaceId: string): Promise<WorkspaceMcpEntryRecord[]> {
  const rows = await db.query<WorkspaceMcpEntryRecord>(LIST, [workspaceId]);
  return rows.map((row) => entry.read(row));
}

/** One statement, so that the revision is that of the hashes. */
const KNOWN: Statement = {
  name: "workspace-mcp-entries.known",
  text: `
    SELECT w.mcp_revision AS revision,
      coalesce(array_agg(e.hash) FILTER (WHERE e.allowed_at IS NOT NULL), '{}') AS allowed,
      coalesce(array_agg(e.hash) FILTER (WHERE e.hash IS NOT NULL AND e.allowed_at IS NULL), '{}') AS requested
    FROM workspaces w LEFT JOIN workspace_mcp_entries e ON e.workspace_id = w.id
    WHERE w.id = $1 GROUP BY w.id`,
};

/** Hashes of a workspace's entries. `revision` grows with every permission given or taken back. */
export type KnownMcpEntries = { revision: number; allowed: string[]; requested: string[] };

/** Null when the workspace is gone. */
export async function readKnownMcpEntries(
  db: Queryable,
  workspaceId: string,
): Promise<KnownMcpEntries | null> {
  const [known] = await db.query<KnownMcpEntries>(KNOWN, [workspaceId]);
  return known ?? null;
}

const FORGET: Statement = {
  name: "workspace-mcp-entries.forget",
  text: `
    DELETE FROM workspace_mcp_entries
    WHERE workspace_id = $1 AND allowed_at IS NULL AND hash <> ALL($2::text[])`,
};

/** Two replicas may report at once; of an entry that is known, nothing that the hash covers can have changed. */
const REQUEST: Statement = {
  name: "workspace-mcp-entries.request",
  text: `
    INSERT INTO workspace_mcp_entries (workspace_id, hash, entry, config_file, link_target)
    SELECT w.id, r.hash, r.entry, r.config_file, r.link_target
    FROM workspaces w, jsonb_to_recordset($2::jsonb)
      AS r (hash text, entry jsonb, config_file text, link_target text)
    WHERE w.id = $1
    ON CONFLICT (workspace_id, hash) DO NOTHING`,
};

export type McpRequestReport = {
  hash: string;
  entry: WorkspaceMcpEntry;
  configFile: string;
  linkTarget: string | null;
};

/** Replaces the workspace's requests; permissions stay. `transaction` makes it one change. */
export async function replaceMcpRequests(
  transaction: Queryable,
  workspaceId: string,
  requests: readonly McpRequestReport[],
): Promise<void> {
  await transaction.query(FORGET, [workspaceId, requests.map(({ hash }) => hash)]);
  const rows = requests.map(({ hash, entry: asked, configFile, linkTarget }) => {
    return { hash, entry: asked, config_file: configFile, link_target: linkTarget };
  });
  if (rows.length > 0) await transaction.query(REQUEST, [workspaceId, toJsonb(rows)]);
}

/** Changes of one workspace's permissions happen one after the other. */
const ADVANCE: Statement = {
  name: "workspace-mcp-entries.advance",
  text: "UPDATE workspaces SET mcp_revision = mcp_revision + 1 WHERE id = $1",
};

/** To be called first in a transaction that changes permissions: locks the workspace until it ends. */
export async function advanceMcpRevision(transaction: Queryable, workspaceId: string): Promise<void> {
  await transaction.query(ADVANCE, [workspaceId]);
}

const FIND: Statement = {
  name: "workspace-mcp-entries.find",
  text: `SELECT ${entry.columns} FROM workspace_mcp_entries WHERE workspace_id = $1 AND hash = $2 FOR UPDATE`,
};

/** Locked until the transaction ends; null when nothing of that hash is requested or allowed. */
export async function lockMcpEntry(
  transaction: Queryable,
  workspaceId: string,
  hash: string,
): Promise<WorkspaceMcpEntryRecord | null> {
  const [row] = await transaction.query<WorkspaceMcpEntryRecord>(FIND, [workspaceId, hash]);
  return row ? entry.read(row) : null;
}

const COUNT_ALLOWED: Statement = {
  name: "workspace-mcp-entries.count-allowed",
  text: `
    SELECT count(*)::int AS count FROM workspace_mcp_entries WHERE workspace_id = $1 AND allowed_at IS NOT NULL`,
};

export async function countAllowedMcpEntries(db: Queryable, workspaceId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(COUNT_ALLOWED, [workspaceId]);
  return row?.count ?? 0;
}

const ALLOW: Statement = {
  name: "workspace-mcp-entries.allow",
  text: `UPDATE workspace_mcp_entries SET allowed_at = $3, allowed_by = $4 WHERE workspace_id = $1 AND hash = $2`,
};

type Which = { workspaceId: string; hash: string };

export async function allowMcpEntry(
  transaction: Queryable,
  { workspaceId, hash }: Which,
  { at, userId }: { at: number; userId: string },
): Promise<void> {
  await transaction.query(ALLOW, [workspaceId, hash, new Date(at), userId]);
}

const FORBID: Statement = {
  name: "workspace-mcp-entries.forbid",
  text: `
    UPDATE workspace_mcp_entries SET allowed_at = NULL, allowed_by = NULL WHERE workspace_id = $1 AND hash = $2`,
};

/** The entry is a request again, until its agent no longer reports it. */
export async function forbidMcpEntry(transaction: Queryable, { workspaceId, hash }: Which): Promise<void> {
  await transaction.query(FORBID, [workspaceId, hash]);
}
