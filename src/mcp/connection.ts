/**
 * One connection to a tool server, from its handshake to its end, on the MCP library.
 * States: open → closed; the server's end, a dead line or `close` moves it, and it never moves back.
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
import type { Line } from "./transport-options.js";
import { listTools } from "./list-tools.js";
import {
  McpFailure,
  McpTimeout,
  type ListedTool,
  type McpCallAnswer,
  type McpClientParts,
  type McpProgress,
  type McpServerWords,
} from "./types.js";

/** A call without any sign of life; news of its progress begin it anew. */
const CALL_TIMEOUT_MS = 60_000;
/** A call that reports progress without end. */
export const LONGEST_CALL_MS = 240_000;
/** Of all pages; a server that needs longer only to say what it can do is ill. */
const LIST_TIMEOUT_MS = 30_000;
/** After an error of the line the server is asked whether it is there; one that is answers in milliseconds. */
const PING_TIMEOUT_MS = 5_000;
/** For the goodbye of a session; a server that does not hear it forgets the session by itself. */
const GOODBYE_MS = 1_000;

export type ConnectionParts = {
  /** How we introduce ourselves. */
  clientName: string;
  /** The server in log lines. */
  name: string;
  onQuestion?: McpClientParts["onQuestion"];
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
  /** How it ended, if anybody knows. */
  readonly end: string | undefined;
  /** What the server says that it is. */
  readonly server: McpServerWords;
  /** Rejects when the server does not answer in time or at all. */
  listTools(signal?: AbortSignal): Promise<ListedTool[]>;
  /** Rejects as `listTools`, and when the server refuses the call. An aborted signal cancels it at the server. */
  call(call: ConnectionCall): Promise<McpCallAnswer>;
  /** Called once, whoever ended it. */
  onClosed(listener: () => void): void;
  onToolsChanged(listener: () => void): void;
  /** Ends the server's process, or leaves its session. Never rejects. */
  close(): Promise<void>;
};

/** Rejects when the line cannot be opened, or the server has not shaken hands in time, or `signal` is aborted. */
export async function openConnection(
  line: Line,
  parts: ConnectionParts,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<Connection> {
  const client = politeClient(parts);
  client.onerror = (error) => tellLog(parts, error);
  const deadline = new Deadline({
    clock: parts.clock,
    limits: { silenceMs: timeoutMs },
    signal,
    error: () => new McpTimeout(`It did not answer within ${timeoutMs / 1_000} s.`),
  });
  try {
    deadline.signal.throwIfAborted();
    const shake = client.connect(line.transport, { signal: deadline.signal, timeout: UNTIMED_MS });
    await deadline.bound(shake);
  } catch (error) {
    await line.transport.close();
    const words = line.lastWords();
    if (words === "" && line.end() === undefined) throw error;
    const reason = deadline.signal.aborted ? errorText(error) : reasonOf(error, line);
    throw new Error(words === "" ? reason : `${reason} Its last words: ${words}`, { cause: error });
  }
  return new OpenConnection(client, line, parts);
}

function reasonOf(error: unknown, line: Line): string {
  const end = line.end();
  return end === undefined ? errorText(error) : `It ended (${end}) before it answered.`;
}

/** What nobody here can answer is refused in words: a server must hear that instead of nothing. */
function politeClient({ clientName: name, onQuestion }: ConnectionParts): Client {
  const client = new Client({ name, version: VERSION });
  if (onQuestion !== undefined) {
    client.registerCapabilities({ elicitation: { form: { applyDefaults: true } } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      if (params.mode === "url") return { action: "decline" };
      return onQuestion({ message: params.message, form: params.requestedSchema as JsonObject });
    });
  }
  client.fallbackRequestHandler = ({ method }) =>
    Promise.reject(new McpError(ErrorCode.MethodNotFound, `Parley does not answer ${method}.`));
  return client;
}

function tellLog({ log, name }: ConnectionParts, error: unknown): void {
  log.debug({ err: error, server: name }, "A tool server's line erred");
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

  get server(): McpServerWords {
    const { name, version }: Partial<Implementation> = this.client.getServerVersion() ?? {};
    return { name, version, protocolVersion: this.line.protocolVersion() };
  }

  listTools(signal?: AbortSignal): Promise<ListedTool[]> {
    const deadline = new Deadline({
      clock: this.parts.clock,
      limits: { silenceMs: LIST_TIMEOUT_MS },
      signal,
      error: () => new McpTimeout(`It did not tell its tools within ${LIST_TIMEOUT_MS / 1_000} s.`),
    });
    return deadline.bound(listTools(this.client, { ...this.parts, signal: deadline.signal }));
  }

  async call({ tool, args, signal, onProgress }: ConnectionCall): Promise<McpCallAnswer> {
    const deadline = new Deadline({
      clock: this.parts.clock,
      limits: { silenceMs: CALL_TIMEOUT_MS, totalMs: LONGEST_CALL_MS },
      signal,
      error: () => new McpTimeout("It did not answer the call in time."),
    });
    const params = { name: tool, arguments: args };
    // Not `client.callTool`: that refuses results which do not fit the schema that the server gave for them.
    const asked = this.client.request({ method: "tools/call", params }, callResultSchema, {
      signal: deadline.signal,
      timeout: UNTIMED_MS,
      // Without a listener the server is not asked for progress.
      onprogress: (progress) => {
        deadline.extend();
        onProgress?.(progress);
      },
    });
    return callAnswerOf(await deadline.bound(asked));
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
      const goodbye = this.line.goodbye().catch((error: unknown) => tellLog(this.parts, error));
      await Promise.race([goodbye, sleep(this.parts.clock, GOODBYE_MS, isGone.signal)]);
      isGone.abort();
    }
    await this.line.transport.close();
  }

  #hear(error: unknown): void {
    tellLog(this.parts, error);
    // The server has answered, so it is there.
    if (error instanceof McpFailure) return;
    const meaning = this.line.errorMeans(error);
    if (!this.isOpen || this.#isAsking || meaning === "nothing") return;
    if (meaning === "gone") return void this.close();
    this.#isAsking = true;
    void this.#ask().finally(() => (this.#isAsking = false));
  }

  async #ask(): Promise<void> {
    const { clock, log, name } = this.parts;
    const deadline = new Deadline({
      clock,
      limits: { silenceMs: PING_TIMEOUT_MS },
      error: () => new McpTimeout(`It did not answer a ping within ${PING_TIMEOUT_MS / 1_000} s.`),
    });
    try {
      await deadline.bound(this.client.ping({ signal: deadline.signal, timeout: UNTIMED_MS }));
    } catch (cause) {
      log.warn({ err: cause, server: name, at: clock.now() }, "A tool server does not answer any more");
      await this.close();
    }
  }
}
