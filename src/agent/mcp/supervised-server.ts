/**
 * Supervised connection to one MCP server with one configuration: connects on demand, reconnects after the server has
 * ended, and caches its tools.
 * States: starting → ready ⇄ ended, or → failed → (after a delay, or a refresh) starting; `close` ends all.
 */
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { JsonObject } from "../../domain/common/json.js";
import { cutText } from "../../lib/text/utf8.js";
import { done, errorText, refused, type Outcome } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import type { McpCallAnswer } from "../protocol/mcp.js";
import type { EntrySource, ServerConfig } from "./config-text.js";
import type { Connection } from "../../mcp/connection.js";
import type { ListedTool } from "../../mcp/types.js";
import { FREE_RESTARTS, retryDelayMs } from "./retry-policy.js";

/** A server that ran longer is considered stable: its end does not count as a failure. */
const STABLE_AFTER_MS = 60_000;
/** Longest reason of a failure that is passed on. */
const MAX_REASON_BYTES = 2 * 1024;
/** Lists in a row, while the server keeps reporting that its tools have changed. */
const MAX_LISTS = 3;

export type SupervisedServerDependencies = {
  name: string;
  environment: Environment;
  /** Asked at every start: a permission may have been taken back since the server was made. */
  isAllowed(source: EntrySource): boolean;
  /** The current working directory for its process. */
  directory(): Promise<string>;
  clock: Clock;
  log: Log;
};

export type ToolCall = { tool: string; args: JsonObject; signal: AbortSignal };

export class SupervisedServer {
  readonly config: ServerConfig;
  readonly #dependencies: SupervisedServerDependencies;
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #opening: Promise<void> | undefined;
  #listing: Promise<void> | undefined;
  #tools: readonly ListedTool[] = [];
  /** The tools of the current connection were listed. */
  #isListed = false;
  /** The server has reported since that its tools have changed. */
  #isStale = false;
  #problem: string | undefined;
  /** Failed starts and lists in a row, and short runs in a row. */
  #failures = 0;
  #shortRuns = 0;
  #retryAtMs = 0;
  #calls = 0;
  #isRetired = false;

  constructor(config: ServerConfig, dependencies: SupervisedServerDependencies) {
    this.config = config;
    this.#dependencies = dependencies;
  }

  /** As listed last; empty while it has failed. */
  get tools(): readonly ListedTool[] {
    return this.#tools;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get status(): "ready" | "starting" | "failed" {
    if (this.#problem !== undefined) return "failed";
    return this.#isListed && this.#connection?.isOpen === true ? "ready" : "starting";
  }

  get hasFailed(): boolean {
    return this.#problem !== undefined;
  }

  /**
   * Resolves when it is ready, with its tools, or has failed. Forced: retries at once, and lists again. Never rejects.
   */
  async prepare(isForced = false): Promise<void> {
    await this.#open(isForced);
    const connection = this.#connection;
    if (!connection?.isOpen || (this.#isListed && !this.#isStale && !isForced)) return;
    this.#listing ??= this.#list(connection).finally(() => (this.#listing = undefined));
    await this.#listing;
  }

  /** Retries once, on a new connection, a call that never reached the server. */
  async call(call: ToolCall): Promise<Outcome<McpCallAnswer>> {
    this.#calls += 1;
    try {
      const first = await this.#callOnce(call);
      return first === "undelivered" ? await this.#callAgain(call) : first;
    } finally {
      this.#calls -= 1;
      if (this.#isRetired && this.#calls === 0) await this.close();
    }
  }

  /** Closes when its last call has ended. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#calls === 0) await this.close();
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The server was closed."));
    await this.#opening;
    await this.#connection?.close();
  }

  // ── connecting ───────────────────────────────────────────────────────────

  #open(isForced: boolean): Promise<void> {
    if (this.#opening !== undefined) return this.#opening;
    const isWanted = !this.#closing.signal.aborted && this.#connection?.isOpen !== true;
    const isTime = isForced || this.#dependencies.clock.now() >= this.#retryAtMs;
    if (!isWanted || !isTime) return Promise.resolve();
    this.#opening = this.#connect().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #connect(): Promise<void> {
    const { directory, log, name, clock } = this.#dependencies;
    const former = this.#connection;
    this.#connection = undefined;
    await former?.close();
    try {
      const { connectServer } = await loadLibrary();
      const options = { ...this.#dependencies, config: this.config, directory: await directory() };
      // Nothing is awaited between this and the start, and what was allowed is the very object that is started.
      if (!this.#dependencies.isAllowed(this.config.source)) throw new Error("It is not allowed.");
      const connection = await connectServer(options, this.#closing.signal);
      const openedAtMs = clock.now();
      this.#isListed = false;
      this.#problem = undefined;
      connection.onToolsChanged(() => (this.#isStale = true));
      connection.onClosed(() => this.#countRun(clock.now() - openedAtMs, connection.end));
      this.#connection = connection;
      if (this.#closing.signal.aborted) await connection.close();
      else log.info({ server: name }, "MCP server connected");
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#fail(`It cannot be started: ${errorText(error)}`, error);
    }
  }

  async #list(connection: Connection): Promise<void> {
    try {
      // A change during the list requires another list, but not endlessly.
      for (let asked = 0; asked === 0 || (this.#isStale && asked < MAX_LISTS); asked += 1) {
        this.#isStale = false;
        this.#tools = await connection.listTools();
      }
      this.#isListed = true;
      this.#problem = undefined;
      this.#failures = 0;
    } catch (error) {
      this.#isStale = true;
      // The end of a server during the list was counted by `#countRun`.
      const isOurs = connection.isOpen && !this.#closing.signal.aborted;
      if (isOurs) this.#fail(`It does not list its tools: ${errorText(error)}`, error);
    }
  }

  #fail(problem: string, error: unknown): void {
    const { log, name, clock } = this.#dependencies;
    this.#failures += 1;
    const delayMs = retryDelayMs(this.#failures);
    this.#retryAtMs = clock.now() + delayMs;
    this.#problem = cutText(problem, MAX_REASON_BYTES);
    this.#tools = [];
    log.warn({ err: error, server: name, delayMs }, "MCP server failed");
  }

  #countRun(runMs: number, end: string | undefined): void {
    if (this.#closing.signal.aborted) return;
    const { log, name, clock } = this.#dependencies;
    this.#shortRuns = runMs < STABLE_AFTER_MS ? this.#shortRuns + 1 : 0;
    const delayMs = retryDelayMs(Math.max(0, this.#shortRuns - FREE_RESTARTS));
    this.#retryAtMs = clock.now() + delayMs;
    if (delayMs > 0) {
      this.#problem = `It ended ${this.#shortRuns} times soon after it was started`;
      this.#tools = [];
    }
    log.warn({ server: name, end, runMs, delayMs }, "MCP server ended");
  }

  // ── calls ────────────────────────────────────────────────────────────────

  async #callOnce(call: ToolCall): Promise<Outcome<McpCallAnswer> | "undelivered"> {
    await this.#open(false);
    const connection = this.#connection;
    if (!connection?.isOpen) return this.#unavailable();
    try {
      return done(await connection.call(call));
    } catch (error) {
      const { isUndelivered } = await loadLibrary();
      if (isUndelivered(error)) {
        await connection.close();
        return "undelivered";
      }
      const { name } = this.#dependencies;
      const end = connection.end === undefined ? "" : ` It ended (${connection.end}) during the call.`;
      return refused(502, `The MCP server ${name} failed: ${sentence(errorText(error))}${end}`);
    }
  }

  async #callAgain(call: ToolCall): Promise<Outcome<McpCallAnswer>> {
    const second = await this.#callOnce(call);
    return second === "undelivered" ? this.#unavailable() : second;
  }

  #unavailable(): Outcome<McpCallAnswer> {
    const { name, clock } = this.#dependencies;
    const waitSeconds = Math.ceil(Math.max(0, this.#retryAtMs - clock.now()) / 1_000);
    const reason = sentence(this.#problem ?? "It ended as soon as it was started");
    const retry = waitSeconds === 0 ? "" : ` The next attempt is in ${waitSeconds} s.`;
    return refused(502, `The MCP server ${name} is not available. ${reason}${retry}`);
  }
}

let library: Promise<typeof import("./connection.js")> | undefined;

/** Loaded lazily: an agent without MCP servers does not need the library. */
function loadLibrary(): Promise<typeof import("./connection.js")> {
  library ??= import("./connection.js");
  return library;
}

function sentence(reason: string): string {
  const text = cutText(reason, MAX_REASON_BYTES);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
