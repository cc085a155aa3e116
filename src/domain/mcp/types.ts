/** Words of the tool servers that admins register for everybody (MCP: the Model Context Protocol). */
import type { JsonObject } from "../common/json.js";

/** How a server is spoken to. SSE is the older of the two, still in use. */
export const MCP_TRANSPORTS = ["streamable_http", "sse"] as const;
export type McpTransport = (typeof MCP_TRANSPORTS)[number];

/**
 * How a server knows who asks: not at all, by each person's own authorisation, by one key or headers of the
 * deployment, or by the identity that the person signed in with.
 */
export const MCP_AUTH_KINDS = ["none", "oauth2", "api_key", "custom_headers", "user_identity"] as const;
export type McpAuthKind = (typeof MCP_AUTH_KINDS)[number];

/** `force_on`: in every turn. `default_on`: selected in new chats unless they say otherwise. `default_off`: chosen. */
export const MCP_AVAILABILITIES = ["force_on", "default_on", "default_off"] as const;
export type McpAvailability = (typeof MCP_AVAILABILITIES)[number];

/** How a person stands with a server. `expired`: authorised once, and not renewable without the person. */
export const MCP_CONNECTION_STATUSES = ["not_needed", "connected", "disconnected", "expired"] as const;
export type McpConnectionStatus = (typeof MCP_CONNECTION_STATUSES)[number];

/** All of a server's settings but its secrets. Addresses are in the form that `URL` writes. */
export type McpServerSettings = {
  slug: string;
  displayName: string;
  description: string;
  iconUrl: string | null;
  url: string;
  transport: McpTransport;
  authKind: McpAuthKind;
  /** What an admin gave, all three or none; null = found by discovery. */
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
  /** Whether it may live on this machine or in a private network. */
  allowsPrivateAddresses: boolean;
};

/** How one person stands with one server at this moment. */
export type McpAccountState = {
  status: McpConnectionStatus;
  connectedAt: Date | null;
  /** Of the token that is used now; null = it does not expire, or nobody said. */
  expiresAt: Date | null;
};

/** A tool as its server tells of it; the name is the server's own. */
export type McpToolDescription = { name: string; description: string; inputSchema: JsonObject };

/**
 * Why a server could not be used. `unauthorized`: it wants an authorisation that it was not shown. `blocked`: our own
 * guard does not let requests out to it. `unreachable`: there is no line, or it broke. `timeout`: it did not answer in
 * time. `malformed`: what it answers is not the protocol. `refused`: it answers with an error.
 */
export const MCP_FAILURES = [
  "unauthorized",
  "blocked",
  "unreachable",
  "timeout",
  "malformed",
  "refused",
] as const;
export type McpServerFailureKind = (typeof MCP_FAILURES)[number];

/** `message` is for people and holds no secret. */
export type McpServerFailure = { kind: McpServerFailureKind; message: string };

/** What came of a try to use a server: from the first request to its whole list of tools. */
export type McpProbeResult = { latencyMs: number } & (
  | {
      ok: true;
      tools: readonly McpToolDescription[];
      /** What the server says that it is; null where it does not. */
      serverName: string | null;
      serverVersion: string | null;
      protocolVersion: string | null;
    }
  | { ok: false; failure: McpServerFailure }
);
