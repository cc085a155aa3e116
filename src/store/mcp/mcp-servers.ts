/** MCP servers as admins registered them. There are few rows, so lists are read whole. Secrets stay sealed. */
import type { JsonObject } from "../../domain/common/json.js";
import type { McpServerSettings } from "../../domain/mcp/types.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Queryable, Statement } from "../common/database.js";
import {
  Parameters,
  type Selected,
  selectionOf,
  type WrittenColumn,
  writtenColumn,
  writtenColumns,
} from "../common/entity-columns.js";
import { McpServerEntity } from "./mcp-server.entity.js";

export type McpServerRecord = McpServerSettings & {
  id: string;
  /** The server's own OAuth metadata, and the client that was registered there; null = not discovered yet. */
  oauthDiscovered: JsonObject | null;
  /** Grows with every change by an admin. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
  /** Sealed, each for its own column; see `mcpSecretReference`. */
  sealed: Pick<McpServerEntity, (typeof SECRETS)[number]>;
};

/** Columns that a change writes as they are; secrets are written with them. */
const SETTINGS = [
  ...(["id", "slug", "displayName", "description", "iconUrl", "url", "transport", "authKind"] as const),
  ...(["oauthClientId", "oauthAuthorizeUrl", "oauthTokenUrl", "oauthScopes", "oauthDiscovered"] as const),
  ...(["apiKeyHeader", "toolAllowList", "toolDenyList", "availability", "isEnabled"] as const),
  "allowsPrivateAddresses",
] as const;
const SECRETS = ["oauthClientSecret", "oauthRegisteredSecret", "apiKey", "customHeaders"] as const;

const server = selectionOf(McpServerEntity, "s", [...SETTINGS, "version", "createdAt", "updatedAt"]);
const secrets = selectionOf(McpServerEntity, "s", SECRETS);
type McpServerDbRow = Selected<ReturnType<(typeof server)["read"]> & ReturnType<(typeof secrets)["read"]>>;

/** For statements whose rows go to `toMcpServer`; the table's alias is `s`. */
const mcpServerColumns = `${server.columns}, ${secrets.columns}`;

const toMcpServer: (row: McpServerDbRow) => McpServerRecord = server.readWith({
  sealed: (row: McpServerDbRow) => secrets.read(row),
});

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

/** The servers that the viewer may see, by slug: disabled ones only for admins. */
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

/** The servers that the viewer may see, in no order. */
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

/** What a change writes; the database sets the rest. */
export type McpServerValues = Omit<McpServerRecord, "version" | "createdAt" | "updatedAt">;

type WrittenServer = McpServerValues & { actorId: string | null };

const WRITTEN: WrittenColumn<WrittenServer>[] = [
  ...writtenColumns(McpServerEntity, SETTINGS),
  ...SECRETS.map((property) =>
    writtenColumn(McpServerEntity, property, ({ sealed }: WrittenServer) => sealed[property]),
  ),
  writtenColumn(McpServerEntity, "updatedBy", ({ actorId }: WrittenServer) => actorId),
];

const INSERT = (() => {
  const parameters = new Parameters<WrittenServer>();
  const createdBy = writtenColumn(McpServerEntity, "createdBy", ({ actorId }: WrittenServer) => actorId);
  const text = `INSERT INTO mcp_servers AS s ${parameters.row([...WRITTEN, createdBy])}
    ON CONFLICT ON CONSTRAINT mcp_servers_slug_key DO NOTHING RETURNING ${mcpServerColumns}`;
  return { parameters, statement: { name: "mcp-servers.insert", text } };
})();

/** Null when the slug is taken. */
export async function insertMcpServer(
  db: Queryable,
  server: McpServerValues,
  actorId: string | null,
): Promise<McpServerRecord | null> {
  const [made] = await db.query<McpServerDbRow>(
    INSERT.statement,
    INSERT.parameters.valuesOf({ ...server, actorId }),
  );
  return made ? toMcpServer(made) : null;
}

const LOCK: Statement = {
  name: "mcp-servers.lock",
  text: `SELECT ${mcpServerColumns} FROM mcp_servers s WHERE s.id = $1 FOR UPDATE`,
};

/** Locks the row until the transaction ends. Null when there is no such server. */
export async function lockMcpServer(db: Queryable, id: string): Promise<McpServerRecord | null> {
  const [found] = await db.query<McpServerDbRow>(LOCK, [id]);
  return found ? toMcpServer(found) : null;
}

const UPDATE = (() => {
  const parameters = new Parameters<WrittenServer>();
  const id = parameters.add(writtenColumn(McpServerEntity, "id", (written: WrittenServer) => written.id));
  const text = `UPDATE mcp_servers s SET ${parameters.assignments(WRITTEN)}, updated_at = now(), version = s.version + 1
    WHERE s.id = ${id} RETURNING ${mcpServerColumns}`;
  return { parameters, statement: { name: "mcp-servers.update", text } };
})();

/** Replaces all values of a row that the caller has locked. Throws when there is none. */
export async function updateMcpServer(
  db: Queryable,
  server: McpServerValues,
  actorId: string | null,
): Promise<McpServerRecord> {
  const [changed] = await db.query<McpServerDbRow>(
    UPDATE.statement,
    UPDATE.parameters.valuesOf({ ...server, actorId }),
  );
  if (!changed) throw new Error(`The MCP server ${server.id} was deleted while it was locked.`);
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

/** Deletes all users' authorizations and begun flows. They are not revoked at the server, which is another one now. */
export async function forgetMcpAuthorizations(db: Queryable, id: string): Promise<void> {
  await db.query(FORGET_AUTHORIZATIONS, [id]);
}

const DELETE: Statement = {
  name: "mcp-servers.delete",
  text: `DELETE FROM mcp_servers s WHERE s.id = $1 RETURNING ${mcpServerColumns}`,
};

/** Deletes the server with all authorizations for it. Returns what it was; null when there is none. */
export async function deleteMcpServer(db: Queryable, id: string): Promise<McpServerRecord | null> {
  const [gone] = await db.query<McpServerDbRow>(DELETE, [id]);
  return gone ? toMcpServer(gone) : null;
}
