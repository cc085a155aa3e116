/**
 * One tool server as one configuration describes it: connected when it is needed, connected again when it has died,
 * with its tools as it told them last.
 * States: starting → ready ⇄ dead, or → failed → (after a while, or a refresh) starting; `close` ends all.
 */
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { JsonObject } from "../../domain/common/json.js";
import { cutText } from "../../lib/text/utf8.js";
import { done, errorText, refused, type Outcome } from "../outcome.js";
import type { Environment } from "../process/environment.js";
import type { McpCallAnswer } from "../protocol/mcp.js";
import type { ServerConfig } from "./config-text.js";
import type { Connection } from "../../mcp/connection.js";
import type { ListedTool } from "../../mcp/types.js";
import { FREE_RESTARTS, retryDelayMs } from "./retry-policy.js";

/** A server that lived longer has proved itself: its death is an accident. */
const LONG_LIFE_MS = 60_000;
/** Of what a server says about itself when it fails, at most this is passed on. */
const MAX_REASON_BYTES = 2 * 1024;
/** Lists in a row, as long as the server says meanwhile that its tools have changed. */
const MAX_LISTS = 3;

export type SupervisedServerDependencies = {
  name: string;
  environment: Environment;
  /** Where its process would run now. */
  directory(): Promise<string>;
  clock: Clock;
  log: Log;
};

export type ToolCall = { tool: string; args: JsonObject; signal: AbortSignal };

export class SupervisedServer {
  readonly config: ServerConfig;
  readonly #parts: SupervisedServerDependencies;
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #opening: Promise<void> | undefined;
  #listing: Promise<void> | undefined;
  #tools: readonly ListedTool[] = [];
  /** The connection that there is has told its tools. */
  #isListed = false;
  /** It has said since that they are others. */
  #isStale = false;
  #problem: string | undefined;
  /** Starts or lists that failed in a row, and lives that were short. */
  #failures = 0;
  #shortLives = 0;
  #retryAtMs = 0;
  #calls = 0;
  #isRetired = false;

  constructor(config: ServerConfig, parts: SupervisedServerDependencies) {
    this.config = config;
    this.#parts = parts;
  }

  /** As it told them last; none while it has failed. */
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

  /** Nobody should wait for it: it has failed before. */
  get isDoubtful(): boolean {
    return this.#problem !== undefined;
  }

  /** Resolves when it is ready, with its tools, or has failed. Forced: tries at once, and lists anew. Never rejects. */
  async prepare(isForced = false): Promise<void> {
    await this.#open(isForced);
    const connection = this.#connection;
    if (!connection?.isOpen || (this.#isListed && !this.#isStale && !isForced)) return;
    this.#listing ??= this.#list(connection).finally(() => (this.#listing = undefined));
    await this.#listing;
  }

  /** A call whose connection proves dead before it took the call is made once more on a new one. */
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
    this.#closing.abort(new Error("The server is not wanted any more."));
    await this.#opening;
    await this.#connection?.close();
  }

  // ── connecting ───────────────────────────────────────────────────────────

  #open(isForced: boolean): Promise<void> {
    if (this.#opening !== undefined) return this.#opening;
    const isWanted = !this.#closing.signal.aborted && this.#connection?.isOpen !== true;
    const isTime = isForced || this.#parts.clock.now() >= this.#retryAtMs;
    if (!isWanted || !isTime) return Promise.resolve();
    this.#opening = this.#connect().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  async #connect(): Promise<void> {
    const { directory, log, name, clock } = this.#parts;
    const former = this.#connection;
    this.#connection = undefined;
    await former?.close();
    try {
      const { connectServer } = await loadLibrary();
      const parts = { ...this.#parts, config: this.config, directory: await directory() };
      const connection = await connectServer(parts, this.#closing.signal);
      const openedAtMs = clock.now();
      this.#isListed = false;
      this.#problem = undefined;
      connection.onToolsChanged(() => (this.#isStale = true));
      connection.onClosed(() => this.#countLife(clock.now() - openedAtMs, connection.end));
      this.#connection = connection;
      if (this.#closing.signal.aborted) await connection.close();
      else log.info({ server: name }, "A tool server is connected");
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#fail(`It cannot be started: ${errorText(error)}`, error);
    }
  }

  async #list(connection: Connection): Promise<void> {
    try {
      // What it tells while it is asked must count, but a server that changes without end is not followed.
      for (let asked = 0; asked === 0 || (this.#isStale && asked < MAX_LISTS); asked += 1) {
        this.#isStale = false;
        this.#tools = await connection.listTools();
      }
      this.#isListed = true;
      this.#problem = undefined;
      this.#failures = 0;
    } catch (error) {
      this.#isStale = true;
      // One that died while it was asked has had its life counted.
      const isOurs = connection.isOpen && !this.#closing.signal.aborted;
      if (isOurs) this.#fail(`It does not tell its tools: ${errorText(error)}`, error);
    }
  }

  #fail(problem: string, error: unknown): void {
    const { log, name, clock } = this.#parts;
    this.#failures += 1;
    const delayMs = retryDelayMs(this.#failures);
    this.#retryAtMs = clock.now() + delayMs;
    this.#problem = cutText(problem, MAX_REASON_BYTES);
    this.#tools = [];
    log.warn({ err: error, server: name, delayMs }, "A tool server has failed");
  }

  #countLife(lifeMs: number, end: string | undefined): void {
    if (this.#closing.signal.aborted) return;
    const { log, name, clock } = this.#parts;
    this.#shortLives = lifeMs < LONG_LIFE_MS ? this.#shortLives + 1 : 0;
    const delayMs = retryDelayMs(Math.max(0, this.#shortLives - FREE_RESTARTS));
    this.#retryAtMs = clock.now() + delayMs;
    if (delayMs > 0) {
      this.#problem = `It ended ${this.#shortLives} times soon after it was started`;
      this.#tools = [];
    }
    log.warn({ server: name, end, lifeMs, delayMs }, "A tool server has ended");
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
      const { name } = this.#parts;
      const end = connection.end === undefined ? "" : ` It ended (${connection.end}) during the call.`;
      return refused(502, `The tool server ${name} failed: ${sentence(errorText(error))}${end}`);
    }
  }

  async #callAgain(call: ToolCall): Promise<Outcome<McpCallAnswer>> {
    const second = await this.#callOnce(call);
    return second === "undelivered" ? this.#unavailable() : second;
  }

  #unavailable(): Outcome<McpCallAnswer> {
    const { name, clock } = this.#parts;
    const waitSeconds = Math.ceil(Math.max(0, this.#retryAtMs - clock.now()) / 1_000);
    const reason = sentence(this.#problem ?? "It ended as soon as it was started");
    const retry = waitSeconds === 0 ? "" : ` It is tried again in ${waitSeconds} s.`;
    return refused(502, `The tool server ${name} is not available. ${reason}${retry}`);
  }
}

let library: Promise<typeof import("./connection.js")> | undefined;

/** Loaded with the first server: an agent without any does not need it. */
function loadLibrary(): Promise<typeof import("./connection.js")> {
  library ??= import("./connection.js");
  return library;
}

function sentence(reason: string): string {
  const text = cutText(reason, MAX_REASON_BYTES);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
