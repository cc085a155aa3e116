/**
 * One connection to an MCP server, from its handshake to its end, by the MCP library.
 * States: open → closed, by the server, by a lost transport, or by `close`.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  ElicitRequestSchema,
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
  type Implementation,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../domain/common/json.js";
import { sleep, type Clock } from "../lib/clock.js";
import { errorText } from "../lib/text/error-text.js";
import type { Log } from "../lib/log.js";
import { VERSION } from "../lib/version.js";
import { callAnswerOf, callResultSchema } from "./content.js";
import { Deadline, UNTIMED_MS } from "./deadline.js";
import type { TransportOptions } from "./transport-options.js";
import { listTools } from "./list-tools.js";
import {
  McpFailure,
  McpTimeout,
  type ListedTool,
  type McpCallAnswer,
  type McpClientDependencies,
  type McpProgress,
  type McpServerIntroduction,
} from "./types.js";

/** Timeout of a call; restarted by each progress notification. */
const CALL_TIMEOUT_MS = 60_000;
/** Timeout of a call that keeps reporting progress. */
const LONGEST_CALL_MS = 240_000;
/** For all pages of the list. */
const LIST_TIMEOUT_MS = 30_000;
/** After an error of the transport the server is pinged; a live one answers in milliseconds. */
const PING_TIMEOUT_MS = 5_000;
/** For terminating the session; a server that misses it expires the session by itself. */
const TERMINATE_SESSION_MS = 1_000;

export type ConnectionDependencies = {
  /** Our name in the handshake. */
  clientName: string;
  /** The server in log lines. */
  name: string;
  onElicitation?: McpClientDependencies["onElicitation"];
  clock: Clock;
  log: Log;
};

export type ConnectionCall = {
  tool: string;
  args: JsonObject;
  signal: AbortSignal;
  onProgress?: (progress: McpProgress) => void;
};

export type Connection = {
  readonly isOpen: boolean;
  /** Why it ended, when known. */
  readonly end: string | undefined;
  /** The server's introduction of itself. */
  readonly server: McpServerIntroduction;
  /** Rejects when the server does not answer in time or at all. */
  listTools(signal?: AbortSignal): Promise<ListedTool[]>;
  /** Rejects as `listTools`, and when the server refuses the call. An aborted signal cancels it at the server. */
  call(call: ConnectionCall): Promise<McpCallAnswer>;
  /** Called once, whichever side ended it. */
  onClosed(listener: () => void): void;
  onToolsChanged(listener: () => void): void;
  /** Ends the server's process, or terminates the session. Never rejects. */
  close(): Promise<void>;
};

/** Rejects when the transport fails, the handshake does not complete in time, or `signal` is aborted. */
export async function openConnection(
  options: TransportOptions,
  dependencies: ConnectionDependencies,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<Connection> {
  const client = createClient(dependencies);
  client.onerror = (error) => logError(dependencies, error);
  const deadline = new Deadline({
    clock: dependencies.clock,
    limits: { silenceMs: timeoutMs },
    signal,
    error: () => new McpTimeout(`It did not answer within ${timeoutMs / 1_000} s.`),
  });
  try {
    deadline.signal.throwIfAborted();
    const handshake = client.connect(options.transport, { signal: deadline.signal, timeout: UNTIMED_MS });
    await deadline.bound(handshake);
  } catch (error) {
    await options.transport.close();
    const output = options.lastOutput();
    if (output === "" && options.end() === undefined) throw error;
    const reason = deadline.signal.aborted ? errorText(error) : reasonOf(error, options);
    throw new Error(output === "" ? reason : `${reason} Its last output: ${output}`, { cause: error });
  }
  return new OpenConnection(client, options, dependencies);
}

function reasonOf(error: unknown, options: TransportOptions): string {
  const end = options.end();
  return end === undefined ? errorText(error) : `It ended (${end}) before it answered.`;
}

/** Refuses requests of the server that it does not support, instead of leaving them without a response. */
function createClient({ clientName: name, onElicitation }: ConnectionDependencies): Client {
  const client = new Client({ name, version: VERSION });
  if (onElicitation !== undefined) {
    client.registerCapabilities({ elicitation: { form: { applyDefaults: true } } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      if (params.mode === "url") return { action: "decline" };
      return onElicitation({ message: params.message, form: params.requestedSchema as JsonObject });
    });
  }
  client.fallbackRequestHandler = ({ method }) =>
    Promise.reject(new McpError(ErrorCode.MethodNotFound, `Parley does not answer ${method}.`));
  return client;
}

function logError({ log, name }: ConnectionDependencies, error: unknown): void {
  log.debug({ err: error, server: name }, "MCP transport error");
}

class OpenConnection implements Connection {
  readonly #closedListeners: (() => void)[] = [];
  #isClosed = false;
  #isPinging = false;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly client: Client,
    private readonly options: TransportOptions,
    private readonly dependencies: ConnectionDependencies,
  ) {
    client.onclose = () => {
      this.#isClosed = true;
      for (const listener of this.#closedListeners.splice(0)) listener();
    };
    client.onerror = (error) => this.#onError(error);
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#closing === undefined && this.options.isRunning();
  }

  get end(): string | undefined {
    return this.options.end();
  }

  get server(): McpServerIntroduction {
    const { name, version }: Partial<Implementation> = this.client.getServerVersion() ?? {};
    return { name, version, protocolVersion: this.options.protocolVersion() };
  }

  listTools(signal?: AbortSignal): Promise<ListedTool[]> {
    const deadline = new Deadline({
      clock: this.dependencies.clock,
      limits: { silenceMs: LIST_TIMEOUT_MS },
      signal,
      error: () => new McpTimeout(`It did not list its tools within ${LIST_TIMEOUT_MS / 1_000} s.`),
    });
    return deadline.bound(listTools(this.client, { ...this.dependencies, signal: deadline.signal }));
  }

  async call({ tool, args, signal, onProgress }: ConnectionCall): Promise<McpCallAnswer> {
    const deadline = new Deadline({
      clock: this.dependencies.clock,
      limits: { silenceMs: CALL_TIMEOUT_MS, totalMs: LONGEST_CALL_MS },
      signal,
      error: () => new McpTimeout("It did not answer the call in time."),
    });
    const params = { name: tool, arguments: args };
    // Not `client.callTool`, which rejects results that do not match the server's output schema.
    const request = this.client.request({ method: "tools/call", params }, callResultSchema, {
      signal: deadline.signal,
      timeout: UNTIMED_MS,
      // The server sends progress only when there is a listener.
      onprogress: (progress) => {
        deadline.extend();
        onProgress?.(progress);
      },
    });
    return callAnswerOf(await deadline.bound(request));
  }

  onClosed(listener: () => void): void {
    this.#closedListeners.push(listener);
  }

  onToolsChanged(listener: () => void): void {
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (!this.#isClosed) {
      const isGone = new AbortController();
      const terminated = this.options
        .terminateSession()
        .catch((error: unknown) => logError(this.dependencies, error));
      await Promise.race([terminated, sleep(this.dependencies.clock, TERMINATE_SESSION_MS, isGone.signal)]);
      isGone.abort();
    }
    await this.options.transport.close();
  }

  #onError(error: unknown): void {
    logError(this.dependencies, error);
    // The server has answered, so it is alive.
    if (error instanceof McpFailure) return;
    const meaning = this.options.classifyError(error);
    if (!this.isOpen || this.#isPinging || meaning === "nothing") return;
    if (meaning === "gone") return void this.close();
    this.#isPinging = true;
    void this.#ping().finally(() => (this.#isPinging = false));
  }

  async #ping(): Promise<void> {
    const { clock, log, name } = this.dependencies;
    const deadline = new Deadline({
      clock,
      limits: { silenceMs: PING_TIMEOUT_MS },
      error: () => new McpTimeout(`It did not answer a ping within ${PING_TIMEOUT_MS / 1_000} s.`),
    });
    try {
      await deadline.bound(this.client.ping({ signal: deadline.signal, timeout: UNTIMED_MS }));
    } catch (cause) {
      log.warn(
        { err: cause, server: name, at: clock.now() },
        "MCP server does not answer; closing the connection",
      );
      await this.close();
    }
  }
}
