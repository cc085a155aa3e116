/** Types of the MCP servers that admins register for the deployment (MCP: the Model Context Protocol). */
import type { JsonObject } from "../common/json.js";

/** Transport of an MCP server. SSE is the older one, still in use. */
export const MCP_TRANSPORTS = ["streamable_http", "sse"] as const;
export type McpTransport = (typeof MCP_TRANSPORTS)[number];

/**
 * How Parley authenticates to a server: not at all, with each user's own authorization, with a key or headers of the
 * deployment, or with the identity that the user signed in with.
 */
export const MCP_AUTH_KINDS = ["none", "oauth2", "api_key", "custom_headers", "user_identity"] as const;
export type McpAuthKind = (typeof MCP_AUTH_KINDS)[number];

/** `force_on`: in every turn. `default_on`: selected in new chats by default. `default_off`: only when selected. */
export const MCP_AVAILABILITIES = ["force_on", "default_on", "default_off"] as const;
export type McpAvailability = (typeof MCP_AVAILABILITIES)[number];

/** Status of a user's account at a server. `expired`: authorized once, and not renewable without the user. */
const MCP_CONNECTION_STATUSES = ["not_needed", "connected", "disconnected", "expired"] as const;
export type McpConnectionStatus = (typeof MCP_CONNECTION_STATUSES)[number];

/** All settings of a server except its secrets. Addresses are normalized by `URL`. */
export type McpServerSettings = {
  slug: string;
  displayName: string;
  description: string;
  iconUrl: string | null;
  url: string;
  transport: McpTransport;
  authKind: McpAuthKind;
  /** Configured by an admin, all three or none; null = found by discovery. */
  oauthClientId: string | null;
  oauthAuthorizeUrl: string | null;
  oauthTokenUrl: string | null;
  oauthScopes: string[];
  apiKeyHeader: string | null;
  /** Empty = all. */
  toolAllowList: string[];
  toolDenyList: string[];
  availability: McpAvailability;
  isEnabled: boolean;
  /** Whether its address may be on this machine or in a private network. */
  allowsPrivateAddresses: boolean;
};

/** A user's account at a server. */
export type McpAccountState = {
  status: McpConnectionStatus;
  connectedAt: Date | null;
  /** Expiry of the current token; null = never, or unknown. */
  expiresAt: Date | null;
};

/** A tool as its server describes it; the name is the server's own. */
export type McpToolDescription = { name: string; description: string; inputSchema: JsonObject };

/**
 * Why a server could not be used. `unauthorized`: it requires an authorization that it did not get. `blocked`: the
 * egress guard refuses its address. `unreachable`: no connection, or a broken one. `timeout`: no answer in time.
 * `malformed`: the answer violates the protocol. `refused`: the server answered with an error.
 */
const MCP_FAILURES = ["unauthorized", "blocked", "unreachable", "timeout", "malformed", "refused"] as const;
export type McpServerFailureKind = (typeof MCP_FAILURES)[number];

/** `message` is worded for users and contains no secret. */
export type McpServerFailure = { kind: McpServerFailureKind; message: string };

/** Result of probing a server: from the first request to its complete tool list. */
export type McpProbeResult = { latencyMs: number } & (
  | {
      ok: true;
      tools: readonly McpToolDescription[];
      /** The server's self-reported name; null when it reports none. */
      serverName: string | null;
      serverVersion: string | null;
      protocolVersion: string | null;
    }
  | { ok: false; failure: McpServerFailure }
);
