/**
 * What Parley knows of a tool server that it speaks MCP with, in its own words: everything of the protocol's library
 * stays behind this room, so that moving to another version of it is a change of one place.
 */
import type { JsonObject } from "../domain/common/json.js";
import type { McpTransport } from "../domain/mcp/types.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";

/** `name` is the tool's own, without its server's. `inputSchema` is as the server wrote it. */
export type ListedTool = { name: string; description: string; inputSchema: JsonObject };

/** One piece of a result; `data` is base64. `unknown` is a kind that the protocol did not have when this was written. */
export type McpPart =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mediaType: string }
  | { type: "audio"; data: string; mediaType: string }
  | { type: "resource"; uri: string; mediaType?: string; text?: string; data?: string }
  | { type: "resource-link"; uri: string; name: string; description?: string; mediaType?: string }
  | { type: "unknown"; kind: string };

/** `isError`: the tool says that it failed; the parts tell why. */
export type McpCallAnswer = { parts: McpPart[]; structuredContent?: JsonObject; isError: boolean };

/** News of a call that goes on; `total` when the server knows it. */
export type McpProgress = { progress: number; total?: number; message?: string };

/** As the platform's, of which it takes a part. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `form` is a JSON schema of what the server wants to know. */
export type McpQuestion = { message: string; form: JsonObject };

export type McpQuestionAnswer =
  { action: "accept"; content: Record<string, string | number | boolean> } | { action: "decline" };

export type McpClientParts = {
  /** The server in log lines. */
  name: string;
  url: URL;
  transport: McpTransport;
  /** What every request carries besides the protocol's own. */
  headers: Readonly<Record<string, string>>;
  /**
   * A request was answered 401. Other headers to try that request with, once; null when there are none. Never rejects.
   */
  renewHeaders(rejected: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>> | null>;
  /**
   * Answers the server's questions to a person (elicitation); what it leaves out of an accepted form becomes the form's
   * default. Without it servers hear that nobody can be asked.
   */
  onQuestion?(question: McpQuestion): Promise<McpQuestionAnswer>;
  /** Guarded: see lib/outbound. */
  fetch: Fetch;
  clock: Clock;
  log: Log;
};

/** A server's introduction of itself. */
export type McpServerWords = { name?: string; version?: string; protocolVersion?: string };

export type McpClient = {
  readonly isOpen: boolean;
  /** What the server says that it is, as far as it does. */
  readonly server: McpServerWords;
  /** Sorted by name, each name once, bounded. Rejects when the server does not answer in time or at all. */
  listTools(signal?: AbortSignal): Promise<ListedTool[]>;
  /** Rejects as `listTools`, and when the server refuses the call. An aborted signal cancels it at the server. */
  call(call: {
    tool: string;
    args: JsonObject;
    signal: AbortSignal;
    onProgress?: (progress: McpProgress) => void;
  }): Promise<McpCallAnswer>;
  /** The server says that its tools are others now. */
  onToolsChanged(listener: () => void): void;
  /** Leaves the session. Never rejects; takes a second at most. */
  close(): Promise<void>;
};

/**
 * Why a server could not be used. `unreachable`: no line, or it ended. `refused`: the server answers with an error.
 * `malformed`: what it answers is not the protocol. `blocked`: our own guard does not let the request out.
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

/** Every rejection of an `McpClient`. Its message is for people: no header's value, no query of an address. */
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

/** What a server says of the credentials that it wants, with its 401 or 403 (RFC 6750, RFC 9728). */
export type McpChallenge = { resourceMetadataUrl?: string; scope?: string; error?: string };

/** The server wants other credentials than those it was shown, also after they were renewed. */
export class McpUnauthorized extends McpFailure {
  override readonly name = "McpUnauthorized";

  constructor(readonly challenge: McpChallenge = {}) {
    super("unauthorized", "The tool server does not accept the credentials that it was shown.");
  }
}

/** The credentials are good, but they do not allow this: `challenge.scope` names what they would have to. */
export class McpForbidden extends McpFailure {
  override readonly name = "McpForbidden";

  constructor(readonly challenge: McpChallenge = {}) {
    const scope = challenge.scope === undefined ? "" : ` It asks for the scope "${challenge.scope}".`;
    super("forbidden", `The tool server wants an authorisation that allows more.${scope}`);
  }
}

/** No answer within the time that the step may take. */
export class McpTimeout extends McpFailure {
  override readonly name = "McpTimeout";

  constructor(message: string) {
    super("timeout", message);
  }
}
