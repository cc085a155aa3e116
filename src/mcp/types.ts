/**
 * Types of the MCP client, independent of the protocol's library, which only this folder imports: another version of it
 * changes nothing else.
 */
import type { JsonObject } from "../domain/common/json.js";
import type { McpTransport } from "../domain/mcp/types.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";

/** `name` is the tool's own, without its server's. `inputSchema` is as the server wrote it. */
export type ListedTool = { name: string; description: string; inputSchema: JsonObject };

/** One part of a result; `data` is base64. `unknown`: a type that this version does not know. */
export type McpPart =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mediaType: string }
  | { type: "audio"; data: string; mediaType: string }
  | { type: "resource"; uri: string; mediaType?: string; text?: string; data?: string }
  | { type: "resource-link"; uri: string; name: string; description?: string; mediaType?: string }
  | { type: "unknown"; kind: string };

/** `isError`: the tool reports a failure, and the parts say why. */
export type McpCallAnswer = { parts: McpPart[]; structuredContent?: JsonObject; isError: boolean };

/** Progress of a running call; `total` when the server knows it. */
export type McpProgress = { progress: number; total?: number; message?: string };

/** The part of the platform's `fetch` that is used. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `form` is the JSON schema of the requested input. */
export type McpElicitation = { message: string; form: JsonObject };

export type McpElicitationResult =
  { action: "accept"; content: Record<string, string | number | boolean> } | { action: "decline" };

export type McpClientDependencies = {
  /** The server in log lines. */
  name: string;
  url: URL;
  transport: McpTransport;
  /** Sent with every request, in addition to the protocol's own. */
  headers: Readonly<Record<string, string>>;
  /**
   * Called after a 401. Resolves to other headers, with which the request is retried once; null when there are none. Never
   * rejects.
   */
  renewHeaders(rejected: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>> | null>;
  /**
   * Answers the server's questions to the user (elicitation); fields missing from an accepted form get its defaults.
   * Without it the client does not announce the capability.
   */
  onElicitation?(elicitation: McpElicitation): Promise<McpElicitationResult>;
  /** Guarded: see lib/outbound. */
  fetch: Fetch;
  clock: Clock;
  log: Log;
};

/** A server's introduction of itself. */
export type McpServerIntroduction = { name?: string; version?: string; protocolVersion?: string };

export type McpClient = {
  readonly isOpen: boolean;
  /** The server's introduction of itself; empty fields when it has none. */
  readonly server: McpServerIntroduction;
  /** Sorted by name, without duplicates, bounded. Rejects when the server does not answer in time or at all. */
  listTools(signal?: AbortSignal): Promise<ListedTool[]>;
  /** Rejects as `listTools`, and when the server refuses the call. An aborted signal cancels it at the server. */
  call(call: {
    tool: string;
    args: JsonObject;
    signal: AbortSignal;
    onProgress?: (progress: McpProgress) => void;
  }): Promise<McpCallAnswer>;
  /** Called when the server reports that its tools have changed. */
  onToolsChanged(listener: () => void): void;
  /** Terminates the session. Never rejects; takes a second at most. */
  close(): Promise<void>;
};

/**
 * Why a server could not be used. `unreachable`: no connection, or it ended. `refused`: the server answers with an error.
 * `malformed`: its response violates the protocol. `blocked`: refused by our own outbound policy.
 */
export type McpFailureKind =
  | "unauthorized"
  | "forbidden"
  | "blocked"
  | "unreachable"
  | "timeout"
  | "malformed"
  | "refused"
  | "cancelled";

/** Every rejection of an `McpClient`. The message is for users and contains no header values and no queries of addresses. */
export class McpFailure extends Error {
  override readonly name: string = "McpFailure";

  constructor(
    readonly kind: McpFailureKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The challenge of a 401 or 403 (RFC 6750, RFC 9728). */
export type McpChallenge = { resourceMetadataUrl?: string; scope?: string; error?: string };

/** The server rejected the credentials, also after they were renewed. */
export class McpUnauthorized extends McpFailure {
  override readonly name = "McpUnauthorized";

  constructor(readonly challenge: McpChallenge = {}) {
    super("unauthorized", "The MCP server does not accept the credentials.");
  }
}

/** The credentials are valid but lack a scope, which `challenge.scope` names. */
export class McpForbidden extends McpFailure {
  override readonly name = "McpForbidden";

  constructor(readonly challenge: McpChallenge = {}) {
    const scope = challenge.scope === undefined ? "" : ` It asks for the scope "${challenge.scope}".`;
    super("forbidden", `The MCP server requires an authorisation with more scopes.${scope}`);
  }
}

/** No response within the step's time limit. */
export class McpTimeout extends McpFailure {
  override readonly name = "McpTimeout";

  constructor(message: string) {
    super("timeout", message);
  }
}
