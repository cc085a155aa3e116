/** Tool servers as admins registered them; few rows, so lists are read whole. Secrets stay sealed in them. */
import type { JsonObject } from "../../domain/common/json.js";
import type { McpServerSettings } from "../../domain/mcp/types.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import { fromJsonb, toJsonb } from "../common/jsonb-text.js";

export type McpServerRecord = McpServerSettings & {
  id: string;
  /** What the server's own metadata told, and the client that registered itself there; null = not asked yet. */
  oauthDiscovered: JsonObject | null;
  /** Grows with every change by an admin. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
  /** Sealed; each at its own column's place, see `mcpSecretPlace`. */
  sealed: {
    oauthClientSecret: string | null;
    oauthRegisteredSecret: string | null;
    apiKey: string | null;
    customHeaders: string | null;
  };
};

type McpServerDbRow = Omit<McpServerRecord, "version" | "sealed"> & {
  version: string;
  oauthClientSecret: string | null;
  oauthRegisteredSecret: string | null;
  apiKey: string | null;
  customHeaders: string | null;
};

/** For `SELECT`s and `RETURNING`s that end in `toMcpServer`; the table's alias is `s`. */
export const mcpServerColumns = `s.id, s.slug, s.display_name AS "displayName", s.description,
  s.icon_url AS "iconUrl", s.url, s.transport, s.auth_kind AS "authKind", s.oauth_client_id AS "oauthClientId",
  s.oauth_authorize_url AS "oauthAuthorizeUrl", s.oauth_token_url AS "oauthTokenUrl",
  s.oauth_scopes AS "oauthScopes", s.oauth_discovered AS "oauthDiscovered", s.api_key_header AS "apiKeyHeader",
  s.tool_allow_list AS "toolAllowList", s.tool_deny_list AS "toolDenyList", s.availability,
  s.is_enabled AS "isEnabled", s.allows_private_addresses AS "allowsPrivateAddresses", s.version,
  s.created_at AS "createdAt", s.updated_at AS "updatedAt", s.oauth_client_secret AS "oauthClientSecret",
  s.oauth_registered_secret AS "oauthRegisteredSecret", s.api_key AS "apiKey", s.custom_headers AS "customHeaders"`;

export function toMcpServer(row: McpServerDbRow): McpServerRecord {
  const { oauthClientSecret, oauthRegisteredSecret, apiKey, customHeaders, ...rest } = row;
  return {
    ...rest,
    oauthDiscovered: row.oauthDiscovered === null ? null : fromJsonb(row.oauthDiscovered),
    version: Number(row.version),
    sealed: { oauthClientSecret, oauthRegisteredSecret, apiKey, customHeaders },
  };
}

const LIST: Statement = {
  name: "mcp-servers.list",
  text: `SELECT ${mcpServerColumns} FROM mcp_servers s ORDER BY s.slug`,
};

/** All of them, by slug. */
export async function listMcpServers(db: Queryable): Promise<McpServerRecord[]> {
  return (await db.query<McpServerDbRow>(LIST, [])).map(toMcpServer);
}

const LIST_VISIBLE: Statement = {
  name: "mcp-servers.list-visible",
  text: `SELECT ${mcpServerColumns} FROM mcp_servers s WHERE s.is_enabled OR $1 ORDER BY s.slug`,
};

/** Those that the viewer may see, by slug: to anybody but admins disabled ones do not exist. */
export async function listVisibleMcpServers(
  db: Queryable,
  viewer: Viewer,
  { includeDisabled }: { includeDisabled: boolean },
): Promise<McpServerRecord[]> {
  const rows = await db.query<McpServerDbRow>(LIST_VISIBLE, [includeDisabled && viewer.role === "admin"]);
  return rows.map(toMcpServer);
}

const FIND_VISIBLE: Statement = {
  name: "mcp-servers.find-visible",
  text: `SELECT ${mcpServerColumns} FROM mcp_servers s WHERE s.id = ANY($1::uuid[]) AND (s.is_enabled OR $2)`,
};

/** Those of them that the viewer may see, in no order. */
export async function findVisibleMcpServers(
  db: Queryable,
  viewer: Viewer,
  ids: readonly string[],
): Promise<McpServerRecord[]> {
  return (await db.query<McpServerDbRow>(FIND_VISIBLE, [ids, viewer.role === "admin"])).map(toMcpServer);
}

const FIND: Statement = {
  name: "mcp-servers.find",
  text: `SELECT ${mcpServerColumns} FROM mcp_servers s WHERE s.id = ANY($1::uuid[])`,
};

/** In no order. */
export async function findMcpServers(db: Queryable, ids: readonly string[]): Promise<McpServerRecord[]> {
  return (await db.query<McpServerDbRow>(FIND, [ids])).map(toMcpServer);
}

/** What a change writes; the rest is the database's. */
export type McpServerValues = Omit<McpServerRecord, "version" | "createdAt" | "updatedAt">;

const INSERT: Statement = {
  name: "mcp-servers.insert",
  text: `
    INSERT INTO mcp_servers AS s (id, slug, display_name, description, icon_url, url, transport, auth_kind,
      oauth_client_id, oauth_authorize_url, oauth_token_url, oauth_scopes, oauth_discovered, api_key_header,
      tool_allow_list, tool_deny_list, availability, is_enabled, allows_private_addresses, oauth_client_secret,
      oauth_registered_secret, api_key, custom_headers, created_by, updated_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
      $24, $24)
    ON CONFLICT ON CONSTRAINT mcp_servers_slug_key DO NOTHING
    RETURNING ${mcpServerColumns}`,
};

/** Null when the slug is taken. */
export async function insertMcpServer(
  db: Queryable,
  server: McpServerValues,
  actorId: string | null,
): Promise<McpServerRecord | null> {
  const [made] = await db.query<McpServerDbRow>(INSERT, [...valuesOf(server), actorId]);
  return made ? toMcpServer(made) : null;
}

const LOCK: Statement = {
  name: "mcp-servers.lock",
  text: `SELECT ${mcpServerColumns} FROM mcp_servers s WHERE s.id = $1 FOR UPDATE`,
};

/** Within a transaction: as it is, and nobody else changes it before the end. Null when it is gone. */
export async function lockMcpServer(db: Queryable, id: string): Promise<McpServerRecord | null> {
  const [found] = await db.query<McpServerDbRow>(LOCK, [id]);
  return found ? toMcpServer(found) : null;
}

const UPDATE: Statement = {
  name: "mcp-servers.update",
  text: `
    UPDATE mcp_servers s SET slug = $2, display_name = $3, description = $4, icon_url = $5, url = $6, transport = $7,
      auth_kind = $8, oauth_client_id = $9, oauth_authorize_url = $10, oauth_token_url = $11, oauth_scopes = $12,
      oauth_discovered = $13, api_key_header = $14, tool_allow_list = $15, tool_deny_list = $16, availability = $17,
      is_enabled = $18, allows_private_addresses = $19, oauth_client_secret = $20, oauth_registered_secret = $21,
      api_key = $22, custom_headers = $23, updated_by = $24, updated_at = now(), version = s.version + 1
    WHERE s.id = $1
    RETURNING ${mcpServerColumns}`,
};

/** All of it, over a row that the caller has locked. Throws when there is none. */
export async function updateMcpServer(
  db: Queryable,
  server: McpServerValues,
  actorId: string | null,
): Promise<McpServerRecord> {
  const [changed] = await db.query<McpServerDbRow>(UPDATE, [...valuesOf(server), actorId]);
  if (!changed) throw new Error(`The MCP server ${server.id} went away while it was locked.`);
  return toMcpServer(changed);
}

const COUNT: Statement = { name: "mcp-servers.count", text: "SELECT count(*) FROM mcp_servers" };

export async function countMcpServers(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: string }>(COUNT, []);
  return Number(row?.count ?? 0);
}

const FORGET_AUTHORIZATIONS: Statement = {
  name: "mcp-servers.forget-authorizations",
  // By mcp_connections_server_idx and mcp_oauth_flows_server_idx.
  text: `
    WITH flows AS (DELETE FROM mcp_oauth_flows WHERE server_id = $1)
    DELETE FROM mcp_connections WHERE server_id = $1`,
};

/** Everybody's, and those that were begun. They are not revoked where they were made: the server is another one now. */
export async function forgetMcpAuthorizations(db: Queryable, id: string): Promise<void> {
  await db.query(FORGET_AUTHORIZATIONS, [id]);
}

const DELETE: Statement = {
  name: "mcp-servers.delete",
  text: `DELETE FROM mcp_servers s WHERE s.id = $1 RETURNING ${mcpServerColumns}`,
};

/** With people's authorisations for it; what it was, or null when there is none. */
export async function deleteMcpServer(db: Queryable, id: string): Promise<McpServerRecord | null> {
  const [gone] = await db.query<McpServerDbRow>(DELETE, [id]);
  return gone ? toMcpServer(gone) : null;
}

function valuesOf(server: McpServerValues): unknown[] {
  const { sealed } = server;
  return [
    server.id,
    server.slug,
    server.displayName,
    server.description,
    server.iconUrl,
    server.url,
    server.transport,
    server.authKind,
    server.oauthClientId,
    server.oauthAuthorizeUrl,
    server.oauthTokenUrl,
    server.oauthScopes,
    server.oauthDiscovered === null ? null : toJsonb(server.oauthDiscovered),
    server.apiKeyHeader,
    server.toolAllowList,
    server.toolDenyList,
    server.availability,
    server.isEnabled,
    server.allowsPrivateAddresses,
    sealed.oauthClientSecret,
    sealed.oauthRegisteredSecret,
    sealed.apiKey,
    sealed.customHeaders,
  ];
}
