/**
 * Client of a remote MCP server: authenticates its requests, and opens a new session when the server has lost the old one.
 * States: open → closed, as its current connection.
 */
import type { JsonObject } from "../domain/common/json.js";
import { openConnection, type Connection } from "./connection.js";
import { Credentials } from "./credentials.js";
import { failureOf, isSessionLost } from "./failure.js";
import { httpTransportOptions } from "./transport-options.js";
import {
  McpFailure,
  type ListedTool,
  type McpCallAnswer,
  type McpClient,
  type McpClientDependencies,
  type McpProgress,
  type McpServerIntroduction,
} from "./types.js";

type Call = {
  tool: string;
  args: JsonObject;
  signal: AbortSignal;
  onProgress?: (progress: McpProgress) => void;
};

/** `timeoutMs` bounds the handshake. Lists and calls have limits of their own. */
export type ConnectOptions = { timeoutMs: number; signal?: AbortSignal };

/** Rejects with an McpFailure when the server is unreachable or does not complete the handshake in time. */
export async function connectMcp(
  dependencies: McpClientDependencies,
  options: ConnectOptions,
): Promise<McpClient> {
  const credentials = new Credentials(dependencies.headers, (rejected) =>
    dependencies.renewHeaders(rejected),
  );
  const client = new HttpClient(dependencies, credentials, options.timeoutMs);
  await client.open(options.signal);
  return client;
}

class HttpClient implements McpClient {
  #connection: Connection | undefined;
  #reopening: Promise<void> | undefined;
  #isClosed = false;
  readonly #listeners: (() => void)[] = [];

  constructor(
    private readonly dependencies: McpClientDependencies,
    private readonly credentials: Credentials,
    private readonly timeoutMs: number,
  ) {}

  get isOpen(): boolean {
    return !this.#isClosed && this.#connection?.isOpen === true;
  }

  get server(): McpServerIntroduction {
    return this.#connection?.server ?? {};
  }

  async open(signal: AbortSignal | undefined): Promise<void> {
    const { name, url, transport, onElicitation, clock, log } = this.dependencies;
    const fetch = this.credentials.wrap(this.dependencies.fetch);
    try {
      const connection = await openConnection(
        httpTransportOptions({ url, kind: transport, fetch }),
        { clientName: "parley", name, onElicitation, clock, log },
        { timeoutMs: this.timeoutMs, signal },
      );
      this.#connection = connection;
      connection.onToolsChanged(() => this.#notifyToolsChanged(connection));
      if (this.#isClosed) await connection.close();
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  listTools(signal?: AbortSignal): Promise<ListedTool[]> {
    return this.#withSession((connection) => connection.listTools(signal), signal);
  }

  call(call: Call): Promise<McpCallAnswer> {
    return this.#withSession((connection) => connection.call(call), call.signal);
  }

  onToolsChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
  }

  /** A server that does not know the session ignored the request: it is sent once more in a new session. */
  async #withSession<Result>(
    send: (connection: Connection) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const used = this.#current();
    try {
      return await send(used);
    } catch (error) {
      if (!isSessionLost(error) || this.#isClosed || signal?.aborted) throw this.#failure(error, signal);
    }
    await this.#reopen(used);
    try {
      return await send(this.#current());
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  #current(): Connection {
    if (this.#connection === undefined || this.#isClosed)
      throw new McpFailure("unreachable", "The connection to the MCP server is closed.");
    return this.#connection;
  }

  /** Concurrent requests that lost the same session share the new one. */
  async #reopen(lost: Connection): Promise<void> {
    if (this.#connection !== lost) return;
    this.#reopening ??= this.#replace(lost).finally(() => (this.#reopening = undefined));
    await this.#reopening;
  }

  async #replace(lost: Connection): Promise<void> {
    const { log, name } = this.dependencies;
    log.info({ server: name }, "MCP session lost; opening another");
    await lost.close();
    await this.open(undefined);
    // The new session may be with another process of the server, with other tools.
    for (const listener of this.#listeners) listener();
  }

  #notifyToolsChanged(connection: Connection): void {
    if (this.#connection !== connection) return;
    for (const listener of this.#listeners) listener();
  }

  #failure(error: unknown, signal: AbortSignal | undefined): McpFailure {
    if (signal?.aborted) return new McpFailure("cancelled", "The request was cancelled.");
    const failure = failureOf(error, this.credentials.secrets);
    // The library's SSE transport passes on only the error's text.
    return failure.kind === "unreachable" ? (this.credentials.refusal ?? failure) : failure;
  }
}
