// Inserts MCP servers straight into the database, for tests of what uses them.
import { randomUUID } from "node:crypto";
import type { Queryable } from "../../../src/store/common/database.js";
import {
  insertMcpServer,
  type McpServerRecord,
  type McpServerValues,
} from "../../../src/store/mcp/mcp-servers.js";

/** Defaults to an enabled server without authorisation. */
export function mcpServerValues(overrides: Partial<McpServerValues> = {}): McpServerValues {
  const id = randomUUID();
  return {
    id,
    slug: `server-${id.slice(0, 8)}`,
    displayName: "A server",
    description: "",
    iconUrl: null,
    url: "https://mcp.example/mcp",
    transport: "streamable_http",
    authKind: "none",
    oauthClientId: null,
    oauthAuthorizeUrl: null,
    oauthTokenUrl: null,
    oauthScopes: [],
    oauthDiscovered: null,
    apiKeyHeader: null,
    toolAllowList: [],
    toolDenyList: [],
    availability: "default_off",
    isEnabled: true,
    allowsPrivateAddresses: false,
    sealed: { oauthClientSecret: null, oauthRegisteredSecret: null, apiKey: null, customHeaders: null },
    ...overrides,
  };
}

export async function insertServer(
  db: Queryable,
  overrides: Partial<McpServerValues> = {},
): Promise<McpServerRecord> {
  const made = await insertMcpServer(db, mcpServerValues(overrides), null);
  if (!made) throw new Error("the slug is taken");
  return made;
}
