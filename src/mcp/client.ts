/**
 * A tool server elsewhere as turns use it: reached through the guard, shown who asks, greeted anew when it has forgotten
 * the session. States: open → closed, as the connection that serves it at the time.
 */
import type { JsonObject } from "../domain/common/json.js";
import { openConnection, type Connection } from "./connection.js";
import { Credentials } from "./credentials.js";
import { failureOf, isSessionLost } from "./failure.js";
import { httpLine } from "./transport-options.js";
import {
  McpFailure,
  type ListedTool,
  type McpCallAnswer,
  type McpClient,
  type McpClientParts,
  type McpProgress,
  type McpServerWords,
} from "./types.js";

type Call = {
  tool: string;
  args: JsonObject;
  signal: AbortSignal;
  onProgress?: (progress: McpProgress) => void;
};

/** `timeoutMs` bounds the handshake. Lists and calls have their own limits, and those of their signals. */
export type ConnectOptions = { timeoutMs: number; signal?: AbortSignal };

/** Rejects with an McpFailure when the server cannot be reached, or does not shake hands in time. */
export async function connectMcp(parts: McpClientParts, options: ConnectOptions): Promise<McpClient> {
  const credentials = new Credentials(parts.headers, (rejected) => parts.renewHeaders(rejected));
  const client = new HttpClient(parts, credentials, options.timeoutMs);
  await client.open(options.signal);
  return client;
}

class HttpClient implements McpClient {
  #connection: Connection | undefined;
  #reopening: Promise<void> | undefined;
  #isLeft = false;
  readonly #listeners: (() => void)[] = [];

  constructor(
    private readonly parts: McpClientParts,
    private readonly credentials: Credentials,
    private readonly timeoutMs: number,
  ) {}

  get isOpen(): boolean {
    return !this.#isLeft && this.#connection?.isOpen === true;
  }

  get server(): McpServerWords {
    return this.#connection?.server ?? {};
  }

  async open(signal: AbortSignal | undefined): Promise<void> {
    const { name, url, transport, onQuestion, clock, log } = this.parts;
    const line = httpLine({ url, kind: transport, fetch: this.credentials.wrap(this.parts.fetch) });
    try {
      const connection = await openConnection(
        line,
        { clientName: "parley", name, onQuestion, clock, log },
        { timeoutMs: this.timeoutMs, signal },
      );
      this.#connection = connection;
      connection.onToolsChanged(() => this.#tellChange(connection));
      if (this.#isLeft) await connection.close();
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
    this.#isLeft = true;
    await this.#connection?.close();
  }

  /** A server that knows no such session took nothing: it is greeted anew, and asked once more. */
  async #withSession<Answer>(
    ask: (connection: Connection) => Promise<Answer>,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    const used = this.#current();
    try {
      return await ask(used);
    } catch (error) {
      if (!isSessionLost(error) || this.#isLeft || signal?.aborted) throw this.#failure(error, signal);
    }
    await this.#reopen(used);
    try {
      return await ask(this.#current());
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  #current(): Connection {
    if (this.#connection === undefined || this.#isLeft)
      throw new McpFailure("unreachable", "The connection to the tool server is closed.");
    return this.#connection;
  }

  /** Those who lost the same session wait for the same new one. */
  async #reopen(lost: Connection): Promise<void> {
    if (this.#connection !== lost) return;
    this.#reopening ??= this.#replace(lost).finally(() => (this.#reopening = undefined));
    await this.#reopening;
  }

  async #replace(lost: Connection): Promise<void> {
    this.parts.log.info({ server: this.parts.name }, "A tool server has forgotten the session");
    await lost.close();
    await this.open(undefined);
    // Another session may be another process of the server, with other tools.
    for (const listener of this.#listeners) listener();
  }

  #tellChange(connection: Connection): void {
    if (this.#connection !== connection) return;
    for (const listener of this.#listeners) listener();
  }

  #failure(error: unknown, signal: AbortSignal | undefined): McpFailure {
    if (signal?.aborted) return new McpFailure("cancelled", "The request was cancelled.");
    const failure = failureOf(error, this.credentials.secrets);
    // The library of the SSE line passes on no more than a text.
    return failure.kind === "unreachable" ? (this.credentials.refusal ?? failure) : failure;
  }
}
