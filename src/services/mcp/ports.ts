/** Ports of MCP servers' settings and users' authorizations, as turns use them. */
import type { McpAccountState } from "../../domain/mcp/types.js";
import type { McpClient, McpClientDependencies } from "../../mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";

/**
 * Headers for a user's requests to a server, or why there are none; `message` is shown to users and contains no secret.
 * `not-connected`: the user has not authorized the server. `expired`: they must authorize it again.
 */
export type McpHeaders =
  | { ok: true; headers: Readonly<Record<string, string>> }
  | { ok: false; kind: "not-connected" | "expired" | "failed"; message: string };

/**
 * The user's token from the identity provider that they signed in with, renewed when due. Null = they did not sign in
 * with one, or must sign in again.
 */
export type IdentityTokenOf = (userId: string) => Promise<string | null>;

export interface McpAuthorization {
  /** Renews a token that is about to expire first. Never rejects. */
  headersFor(server: McpServerRecord, userId: string): Promise<McpHeaders>;
  /** New headers after the server has rejected these, if possible. Never rejects. */
  renewedHeaders(
    server: McpServerRecord,
    userId: string,
    rejected: Readonly<Record<string, string>>,
  ): Promise<McpHeaders>;
  /** The user's current connection with each server, by server id. */
  accountStates(
    servers: readonly McpServerRecord[],
    userId: string,
  ): Promise<ReadonlyMap<string, McpAccountState>>;
}

export interface McpServerCatalog {
  /**
   * The servers of a turn, by slug: enabled ones that are forced on, and enabled ones of the selection. Cached for at
   * most ten seconds; changes on any replica invalidate the cache.
   */
  ofTurn(selectedIds: readonly string[]): Promise<readonly McpServerRecord[]>;
  /** The selection of new chats that name none: enabled servers that are on by default. */
  preselectedIds(): Promise<string[]>;
}

/** `connectMcp` of src/mcp; the protocol's library is loaded with the first connection. */
export type ConnectMcp = (
  dependencies: McpClientDependencies,
  options: { timeoutMs: number; signal?: AbortSignal },
) => Promise<McpClient>;
