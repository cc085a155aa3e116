// Registration of MCP servers by an admin, and the rows that are stored of them.
import { randomUUID } from "node:crypto";
import { decodeId } from "../../../src/domain/common/ids.js";
import type { ApiClient } from "../clients/api-client.js";
import type { TestEnvironment } from "../parley.js";

export type ShownServer = {
  id: string;
  slug: string;
  admin: Record<string, unknown> | null;
  [field: string]: unknown;
};
export type Answered = {
  server: ShownServer | null;
  userErrors: { code: string; message: string; path: string[] | null }[];
};

const FIELDS = `__typename id slug displayName description iconUrl isEnabled availability transport authKind
  admin { url oauthClientId oauthAuthorizeUrl oauthTokenUrl oauthScopes apiKeyHeader hasOauthSecret hasApiKey
    hasCustomHeaders toolAllowList toolDenyList isPrivateNetworkAllowed updatedAt }`;

/** Slugs that no other test uses. */
export const newSlug = () => `s-${randomUUID().slice(0, 8)}`;

export function newServer(overrides: object = {}) {
  return {
    slug: newSlug(),
    displayName: "Files",
    url: "https://mcp.example/mcp",
    transport: "STREAMABLE_HTTP",
    auth: { none: true },
    ...overrides,
  };
}

type Row = Record<string, unknown> & { version: string };

export type Registration = ReturnType<typeof registrationBy>;

/** The mutations of one admin. */
export function registrationBy(admin: ApiClient, environment: TestEnvironment) {
  const create = (overrides: object = {}, api = admin) =>
    api.change<Answered>("createMcpServer", newServer(overrides), `server { ${FIELDS} }`);
  const update = (serverId: string, change: object, api = admin) =>
    api.change<Answered>("updateMcpServer", { serverId, ...change }, `server { ${FIELDS} }`);
  const remove = (serverId: string, api = admin) =>
    api.change<{ deletedId: string | null; userErrors: object[] }>(
      "deleteMcpServer",
      { serverId },
      "deletedId",
    );

  async function made(overrides: object = {}): Promise<ShownServer> {
    const { server, userErrors } = await create(overrides);
    if (!server) throw new Error(JSON.stringify(userErrors));
    return server;
  }

  async function find(id: string, api: ApiClient): Promise<ShownServer | null> {
    const query = `query ($id: ID!) { node(id: $id) { ... on McpServer { ${FIELDS} } } }`;
    return (await api.get<{ node: ShownServer | null }>(query, { id })).node;
  }

  async function list(api: ApiClient, includeDisabled?: boolean | null): Promise<ShownServer[]> {
    const query = `query ($includeDisabled: Boolean) { mcpServers(includeDisabled: $includeDisabled) { ${FIELDS} } }`;
    const variables = includeDisabled === undefined ? {} : { includeDisabled };
    return (await api.get<{ mcpServers: ShownServer[] }>(query, variables)).mcpServers;
  }

  async function rowOf(id: string): Promise<Row> {
    const [row] = (await environment.database.dataSource.query("SELECT * FROM mcp_servers WHERE id = $1", [
      decodeId("mcp", id),
    ])) as Row[];
    if (!row) throw new Error("There is no such row.");
    return row;
  }

  /** The sealed columns that are not null. */
  async function secretsOf(id: string): Promise<string[]> {
    const row = await rowOf(id);
    const columns = ["oauth_client_secret", "oauth_registered_secret", "api_key", "custom_headers"];
    return columns.filter((column) => row[column] !== null);
  }

  return { create, update, remove, made, find, list, rowOf, secretsOf };
}

export const OAUTH_CLIENT = {
  clientId: "parley",
  authorizeUrl: "https://id.example/authorize",
  tokenUrl: "https://id.example/token",
};
