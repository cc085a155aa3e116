/**
 * One person's line to one registered tool server within a turn.
 * States: new → open ⇄ lost, or → failed; `close` ends all. A lost line is opened anew by the next call.
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
import { NotAuthorized, openServer, type ServerConnectionDependencies } from "../../services/mcp/connect-server.js";
import { progressLine } from "./progress-line.js";
import { outcomeOf } from "./call-outcome.js";

/** Authorisation, handshake and the list of tools together: longer is not worth a person's wait. */
export const OPEN_TIMEOUT_MS = 10_000;

export type TurnServerDependencies = ServerConnectionDependencies & { meter: McpMeter };

/** A tool of the server: by its own name, with words and schema that every vendor takes. */
export type SanitizedTool = { name: string; description: string; inputSchema: JsonObject };

export class ServerConnection {
  #client: McpClient | undefined;
  #tools: readonly SanitizedTool[] = [];
  #isStale = false;
  #opening: Promise<void> | undefined;
  readonly #ending = new AbortController();
  #lostRight: string | undefined;

  constructor(
    private readonly parts: TurnServerDependencies,
    readonly server: McpServerRecord,
    private readonly person: { userId: string; chatId: string },
  ) {}

  /** As listed last: those that admins allow, sorted by their own names. */
  get tools(): readonly SanitizedTool[] {
    return this.#tools;
  }

  /** Why the server refused the person in the middle of the turn; undefined = it did not. */
  get lostRight(): string | undefined {
    return this.#lostRight;
  }

  /** Rejects with an McpFailure, or NotAuthorized; within ten seconds. Those who ask at the same time share it. */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  /** Reads the tools anew if the server has said that they are others. Never rejects; ten seconds at most. */
  async refresh(): Promise<void> {
    const client = this.#client;
    if (!this.#isStale || client === undefined || !client.isOpen) return;
    try {
      this.#isStale = false;
      await this.#within((signal) => this.#list(client, signal));
    } catch (error) {
      this.#warn(error, "A tool server's new tools cannot be listed");
    }
  }

  /** Never rejects but with the reason of the call's signal: whatever goes wrong is the call's result. */
  async call(tool: string, args: JsonObject, context: ToolContext): Promise<ToolOutcome> {
    const { clock, meter } = this.parts;
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

  /** Leaves the server, also one that is still being opened. Never rejects; takes a second at most. */
  async close(): Promise<void> {
    this.#ending.abort(new McpFailure("cancelled", "The turn is over."));
    await this.#opening?.catch(() => undefined);
    await this.#client?.close();
  }

  async #open(): Promise<void> {
    const { clock, meter } = this.parts;
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
    const { server, parts } = this;
    const { userId } = this.person;
    const client = await openServer(parts, { server, userId }, { timeoutMs: OPEN_TIMEOUT_MS, signal });
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
    this.#tools = await Promise.all(allowed.map((tool) => linkedTool(tool, this.server)));
  }

  #within(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const seconds = OPEN_TIMEOUT_MS / 1_000;
    const deadline = new Deadline({
      clock: this.parts.clock,
      limits: { silenceMs: OPEN_TIMEOUT_MS },
      signal: this.#ending.signal,
      error: () => new McpTimeout(`It did not answer within ${seconds} s.`),
    });
    return deadline.bound(work(deadline.signal));
  }

  #failed(error: unknown): ToolOutcome {
    const { displayName } = this.server;
    this.#warn(error, "A call of a tool server's tool failed");
    if (outcomeOfFailure(error) === "unauthorised") {
      this.#lostRight = error instanceof Error ? error.message : "It has to be authorised anew.";
      const message = `The tool server ${displayName} does not accept the person's authorisation any more. Ask the person to authorise it anew; trying again does not help.`;
      return { result: { error: message }, isError: true };
    }
    const reason = error instanceof McpFailure ? error.message : "It could not be asked.";
    return { result: { error: `The tool server ${displayName} failed: ${reason}` }, isError: true };
  }

  #warn(error: unknown, message: string): void {
    const { chatId } = this.person;
    this.parts.log.warn({ err: error, chatId, server: this.server.slug }, message);
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

async function linkedTool(tool: ListedTool, server: McpServerRecord): Promise<SanitizedTool> {
  return {
    name: tool.name,
    description: sanitizedDescription(tool.description, `A tool of the server ${server.displayName}.`),
    inputSchema: await sanitizedInputSchema(tool.inputSchema),
  };
}
