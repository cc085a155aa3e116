/**
 * A user's connection to one registered MCP server within a turn.
 * States: new → open ⇄ lost, or → failed; `close` ends all. The next call reopens a lost connection.
 */
import type { McpCallOutcome, McpMeter } from "../../domain/common/meters.js";
import type { JsonObject } from "../../domain/common/json.js";
import type { ToolOutcome } from "../../domain/chats/tool-outcome.js";
import { isToolAllowed } from "../../domain/mcp/tools.js";
import { Deadline } from "../../mcp/deadline.js";
import {
  McpFailure,
  McpTimeout,
  type ListedTool,
  type McpClient,
  type McpProgress,
} from "../../mcp/types.js";
import type { McpServerRecord } from "../../store/mcp/mcp-servers.js";
import type { ToolContext } from "../tools/tool.js";
import { sanitizedDescription, sanitizedInputSchema } from "./sanitized-tool.js";
import {
  NotAuthorized,
  openServer,
  type ServerConnectionDependencies,
} from "../../services/mcp/connect-server.js";
import { progressLine } from "./progress-line.js";
import { outcomeOf } from "./call-outcome.js";

/** For authorisation, handshake and the list of tools together: longer is not worth a user's wait. */
const OPEN_TIMEOUT_MS = 10_000;

export type TurnServerDependencies = ServerConnectionDependencies & { meter: McpMeter };

/** A tool under its own name, with a description and schema that every vendor accepts. */
type SanitizedTool = { name: string; description: string; inputSchema: JsonObject };

export class ServerConnection {
  #client: McpClient | undefined;
  #tools: readonly SanitizedTool[] = [];
  #isStale = false;
  #opening: Promise<void> | undefined;
  readonly #ending = new AbortController();
  #authorizationError: string | undefined;

  constructor(
    private readonly dependencies: TurnServerDependencies,
    readonly server: McpServerRecord,
    private readonly turn: { userId: string; chatId: string },
  ) {}

  /** As last listed: those that admins allow, sorted by their own names. */
  get tools(): readonly SanitizedTool[] {
    return this.#tools;
  }

  /** Why the server refused the user in the middle of the turn; undefined = it did not. */
  get authorizationError(): string | undefined {
    return this.#authorizationError;
  }

  /** Rejects with an McpFailure, or NotAuthorized; within ten seconds. Concurrent callers share one attempt. */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  /** Lists the tools again if the server has reported a change. Never rejects; takes at most ten seconds. */
  async refresh(): Promise<void> {
    const client = this.#client;
    if (!this.#isStale || client === undefined || !client.isOpen) return;
    try {
      this.#isStale = false;
      await this.#within((signal) => this.#list(client, signal));
    } catch (error) {
      this.#warn(error, "MCP server's changed tools cannot be listed");
    }
  }

  /** Rejects only with the reason of the call's signal: every other failure is the call's result. */
  async call(tool: string, args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
    const { clock, meter } = this.dependencies;
    const startedAt = clock.now();
    const end = (outcome: McpCallOutcome) =>
      meter.mcpCall({ server: this.server.slug, outcome, seconds: (clock.now() - startedAt) / 1_000 });
    try {
      if (!this.#client?.isOpen) await this.open();
      const client = this.#client;
      if (client === undefined) throw new McpFailure("unreachable", "The connection is closed.");
      const onProgress = (progress: McpProgress) => context.output(progressLine(progress));
      const answer = await client.call({ tool, args, signal: context.signal, onProgress });
      end(answer.isError ? "tool" : "ok");
      return outcomeOf(answer);
    } catch (error) {
      end(outcomeOfFailure(error));
      context.signal.throwIfAborted();
      return this.#failed(error);
    }
  }

  /** Closes the connection, even while it is being opened. Never rejects; takes at most a second. */
  async close(): Promise<void> {
    this.#ending.abort(new McpFailure("cancelled", "The turn is over."));
    await this.#opening?.catch(() => undefined);
    await this.#client?.close();
  }

  async #open(): Promise<void> {
    const { clock, meter } = this.dependencies;
    const startedAt = clock.now();
    let outcome: ReturnType<typeof outcomeOfFailure> | "ok" = "ok";
    try {
      await this.#within((signal) => this.#connect(signal));
    } catch (error) {
      outcome = outcomeOfFailure(error);
      throw error;
    } finally {
      const seconds = (clock.now() - startedAt) / 1_000;
      meter.mcpConnect({ server: this.server.slug, outcome, seconds });
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { server, dependencies } = this;
    const { userId } = this.turn;
    const client = await openServer(dependencies, { server, userId }, { timeoutMs: OPEN_TIMEOUT_MS, signal });
    try {
      signal.throwIfAborted();
      client.onToolsChanged(() => (this.#isStale = true));
      await this.#list(client, signal);
      signal.throwIfAborted();
    } catch (error) {
      await client.close();
      throw error;
    }
    const lost = this.#client;
    this.#client = client;
    await lost?.close();
  }

  async #list(client: McpClient, signal: AbortSignal): Promise<void> {
    const listed = await client.listTools(signal);
    const allowed = listed.filter(({ name }) => isToolAllowed(this.server, name));
    this.#tools = await Promise.all(allowed.map((tool) => sanitizedTool(tool, this.server)));
  }

  #within(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const seconds = OPEN_TIMEOUT_MS / 1_000;
    const deadline = new Deadline({
      clock: this.dependencies.clock,
      limits: { silenceMs: OPEN_TIMEOUT_MS },
      signal: this.#ending.signal,
      error: () => new McpTimeout(`It did not answer within ${seconds} s.`),
    });
    return deadline.bound(work(deadline.signal));
  }

  #failed(error: unknown): ToolOutcome {
    const { displayName } = this.server;
    this.#warn(error, "MCP tool call failed");
    if (outcomeOfFailure(error) === "unauthorised") {
      this.#authorizationError = error instanceof Error ? error.message : "It has to be authorised again.";
      const message = `The MCP server ${displayName} does not accept the user's authorisation any more. Ask the user to authorise it again; trying again does not help.`;
      return { result: { error: message }, isError: true };
    }
    const reason = error instanceof McpFailure ? error.message : "It could not be reached.";
    return { result: { error: `The MCP server ${displayName} failed: ${reason}` }, isError: true };
  }

  #warn(error: unknown, message: string): void {
    const { chatId } = this.turn;
    this.dependencies.log.warn({ err: error, chatId, server: this.server.slug }, message);
  }
}

function outcomeOfFailure(error: unknown): Exclude<McpCallOutcome, "ok" | "tool"> {
  if (error instanceof NotAuthorized) return "unauthorised";
  if (!(error instanceof McpFailure)) return "unreachable";
  switch (error.kind) {
    case "unauthorized":
    case "forbidden":
      return "unauthorised";
    case "malformed":
    case "refused":
      return "refused";
    case "blocked":
    case "unreachable":
      return "unreachable";
    case "timeout":
    case "cancelled":
      return error.kind;
  }
}

async function sanitizedTool(tool: ListedTool, server: McpServerRecord): Promise<SanitizedTool> {
  return {
    name: tool.name,
    description: sanitizedDescription(tool.description, `A tool of the server ${server.displayName}.`),
    inputSchema: await sanitizedInputSchema(tool.inputSchema),
  };
}
