/** What the turns' side of tool servers asks of those who keep their settings and people's authorisations. */
import type { McpAccountState } from "../../domain/mcp/types.js";
import type { McpClient, McpClientDependencies } from "../../mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";

/**
 * What a person's requests to a server carry, or why there is nothing; `message` is worded for people and names no
 * secret. `not-connected`: the person has not authorised it. `expired`: they have to do so again.
 */
export type McpHeaders =
  | { ok: true; headers: Readonly<Record<string, string>> }
  | { ok: false; kind: "not-connected" | "expired" | "failed"; message: string };

/**
 * A token that says who the person is, as the place gave it where they signed in; renewed when that is due. Null: they
 * did not sign in so, or have to do it again.
 */
export type IdentityTokenOf = (userId: string) => Promise<string | null>;

export interface McpAuthorization {
  /** Renews what is about to expire before it answers. Never rejects. */
  headersFor(server: McpServerRecord, userId: string): Promise<McpHeaders>;
  /** The server refused these headers: others, if there can be any. Never rejects. */
  renewedHeaders(
    server: McpServerRecord,
    userId: string,
    rejected: Readonly<Record<string, string>>,
  ): Promise<McpHeaders>;
  /** How the person stands with each of the servers, true at this moment. By the server's id. */
  accountStates(
    servers: readonly McpServerRecord[],
    userId: string,
  ): Promise<ReadonlyMap<string, McpAccountState>>;
}

export interface McpServerCatalog {
  /**
   * The servers of a turn, by slug: enabled ones that are forced on, and those of the selection that are enabled. From
   * memory, at most ten seconds old; changes on any replica are heard at once.
   */
  ofTurn(selectedIds: readonly string[]): Promise<readonly McpServerRecord[]>;
  /** What a new chat selects that says nothing: enabled ones that are on by default. */
  preselectedIds(): Promise<string[]>;
}

/** `connectMcp` of src/mcp; the protocol's library is loaded with the first server. */
export type ConnectMcp = (
  dependencies: McpClientDependencies,
  options: { timeoutMs: number; signal?: AbortSignal },
) => Promise<McpClient>;
