/**
 * One connection to a tool server, from its handshake to its end, on the MCP library.
 * States: open → closed; the server's end, a dead line or `close` moves it, and it never moves back.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../../domain/json.js";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { VERSION } from "../../lib/version.js";
import { errorText } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import type { McpCallAnswer } from "../protocol.js";
import { boundedFetch } from "./bounded-fetch.js";
import type { ServerConfig } from "./config-text.js";
import { callAnswerOf, callResultSchema } from "./content.js";
import { listTools, type ListedTool } from "./list-tools.js";
import { StderrLog } from "./stderr-log.js";
import { StdioTransport } from "./stdio-transport.js";

/** A first `npx` downloads its program within it, usually. */
export const HANDSHAKE_TIMEOUT_MS = 30_000;
/** A call without any sign of life; news of its progress begin it anew. */
const CALL_TIMEOUT_MS = 60_000;
/** A call that reports progress without end. With the handshake it stays below `MAX_MCP_CALL_MS`. */
const LONGEST_CALL_MS = 240_000;
/** After an error of the line the server is asked whether it is there; one that is answers in milliseconds. */
const PING_TIMEOUT_MS = 5_000;
/** For the goodbye of a session; a server that does not hear it forgets the session by itself. */
const GOODBYE_MS = 1_000;

export type ConnectionParts = {
  name: string;
  config: ServerConfig;
  environment: Environment;
  /** Where the server's process runs. */
  directory: string;
  clock: Clock;
  log: Log;
};

export type Connection = {
  readonly isOpen: boolean;
  /** How it ended, if anybody knows. */
  readonly end: string | undefined;
  /** Rejects when the server does not answer in time or at all. */
  listTools(): Promise<ListedTool[]>;
  /** Rejects as `listTools`, and when the server refuses the call. An aborted signal cancels it at the server. */
  call(call: { tool: string; args: JsonObject; signal: AbortSignal }): Promise<McpCallAnswer>;
  /** Called once, whoever ended it. */
  onClosed(listener: () => void): void;
  onToolsChanged(listener: () => void): void;
  /** Ends the server's process, or leaves its session. Never rejects. */
  close(): Promise<void>;
};

/** The line to a server, and what is particular about its kind. */
type Line = {
  transport: Transport;
  isRunning(): boolean;
  end(): string | undefined;
  /** What explains a failed start. */
  lastWords(): string;
  /** Politeness before the end. */
  goodbye(): Promise<void>;
  /** An error means that the server is gone, may mean it, or does not. */
  errorMeans: "gone" | "perhaps gone" | "nothing";
};

/** Rejects when the server cannot be started, or has not shaken hands within 30 s, or `signal` is aborted. */
export async function connectServer(parts: ConnectionParts, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted();
  const line = openLine(parts);
  const client = new Client({ name: "parley-agent", version: VERSION });
  client.onerror = (error) =>
    parts.log.debug({ err: error, server: parts.name }, "A tool server's line erred");
  const late = new AbortController();
  const stop = () => late.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const cancel = parts.clock.after(HANDSHAKE_TIMEOUT_MS, () =>
    late.abort(new Error(`It did not answer within ${HANDSHAKE_TIMEOUT_MS / 1_000} s.`)),
  );
  try {
    const shake = client.connect(line.transport, { signal: late.signal, timeout: HANDSHAKE_TIMEOUT_MS * 2 });
    await Promise.race([shake, rejection(late.signal)]);
  } catch (error) {
    await line.transport.close();
    const reason = late.signal.aborted ? errorText(late.signal.reason) : reasonOf(error, line);
    const words = line.lastWords();
    throw new Error(words === "" ? reason : `${reason} Its last words: ${words}`, { cause: error });
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
  return new OpenConnection(client, line, parts);
}

/** The call certainly never reached the server, which has forgotten our session or is not there. */
export function isUndelivered(error: unknown): boolean {
  if (error instanceof StreamableHTTPError) return error.code === 404;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

function openLine({ name, config, environment, directory, clock, log }: ConnectionParts): Line {
  if (config.transport === "stdio") {
    const stderr = new StderrLog({ server: name, log, clock });
    const transport = new StdioTransport({
      command: config.command,
      args: config.args,
      environment: { ...environment, ...config.env },
      directory,
      clock,
      onStderr: (chunk) => stderr.take(chunk),
    });
    return {
      transport,
      isRunning: () => transport.isRunning,
      end: () => transport.end,
      lastWords: () => stderr.lastWords,
      goodbye: () => Promise.resolve(),
      errorMeans: "nothing",
    };
  }
  const options = { requestInit: { headers: config.headers }, fetch: boundedFetch };
  const common = { isRunning: () => true, end: () => undefined, lastWords: () => "" };
  if (config.transport === "sse") {
    const transport = new SSEClientTransport(new URL(config.url), options);
    // Its stream is its session: another stream is another one.
    return { ...common, transport, goodbye: () => Promise.resolve(), errorMeans: "gone" };
  }
  const transport = new StreamableHTTPClientTransport(new URL(config.url), options);
  return { ...common, transport, goodbye: () => transport.terminateSession(), errorMeans: "perhaps gone" };
}

function reasonOf(error: unknown, line: Line): string {
  const end = line.end();
  return end === undefined ? errorText(error) : `It ended (${end}) before it answered.`;
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const say = () => reject(signal.reason instanceof Error ? signal.reason : new Error("It was stopped."));
    if (signal.aborted) say();
    else signal.addEventListener("abort", say, { once: true });
  });
}

class OpenConnection implements Connection {
  readonly #closedListeners: (() => void)[] = [];
  #isClosed = false;
  #isAsking = false;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly client: Client,
    private readonly line: Line,
    private readonly parts: ConnectionParts,
  ) {
    client.onclose = () => {
      this.#isClosed = true;
      for (const listener of this.#closedListeners.splice(0)) listener();
    };
    client.onerror = (error) => this.#hear(error);
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#closing === undefined && this.line.isRunning();
  }

  get end(): string | undefined {
    return this.line.end();
  }

  listTools(): Promise<ListedTool[]> {
    return listTools(this.client, this.parts);
  }

  async call({ tool, args, signal }: { tool: string; args: JsonObject; signal: AbortSignal }) {
    const params = { name: tool, arguments: args };
    // Not `client.callTool`: that refuses results which do not fit the schema that the server gave for them.
    const result = await this.client.request({ method: "tools/call", params }, callResultSchema, {
      signal,
      timeout: CALL_TIMEOUT_MS,
      maxTotalTimeout: LONGEST_CALL_MS,
      resetTimeoutOnProgress: true,
      // Without a listener the server is not asked for progress.
      onprogress: () => undefined,
    });
    return callAnswerOf(result);
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
      const goodbye = this.line.goodbye().catch((error: unknown) => this.#hear(error));
      await Promise.race([goodbye, sleep(this.parts.clock, GOODBYE_MS, isGone.signal)]);
      isGone.abort();
    }
    await this.line.transport.close();
  }

  #hear(error: unknown): void {
    const { log, name, clock } = this.parts;
    log.debug({ err: error, server: name }, "A tool server's line erred");
    if (!this.isOpen || this.#isAsking || this.line.errorMeans === "nothing") return;
    if (this.line.errorMeans === "gone") return void this.close();
    this.#isAsking = true;
    const asked = this.client.ping({ timeout: PING_TIMEOUT_MS }).catch((cause: unknown) => {
      log.warn({ err: cause, server: name, at: clock.now() }, "A tool server does not answer any more");
      return this.close();
    });
    void asked.finally(() => (this.#isAsking = false));
  }
}
