/**
 * Keeps a line open to the agent of each workspace that this server uses, so that the agent can ask.
 * A line: connecting → open → (it broke) waiting → connecting …; it ends when nobody answers for long, when too many
 * others are used, or by `close`. Using its workspace again begins a new one.
 */
import { sleep, type Clock } from "../lib/clock.js";
import { runDetached } from "../lib/run-context.js";
import type { Log } from "../lib/log.js";
import type {
  AgentConnection,
  GitCredentials,
  GitCredentialsRequest,
} from "./agent-client/agent-connection.js";
import type { ControlChannel } from "./control-channel.js";

/** The first new try comes soon, later ones twice as late each. */
const FIRST_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 30_000;
/** After some ten minutes without an agent; its next use finds it if it is back. */
const MAX_FAILURES = 24;
/** Each is a socket; those that were not used for longest go first. */
const MAX_LINES = 1_000;

export type ControlChannelsDependencies = {
  answer(workspaceId: string, request: GitCredentialsRequest): Promise<GitCredentials>;
  clock: Clock;
  log: Log;
  /** In [0, 1); for jitter. */
  random(): number;
};

/** Rejects when there is no way to the agent now. */
type Connect = () => Promise<AgentConnection>;

export class ControlChannels {
  /** By workspace, the one that was used last at the end. */
  readonly #lines = new Map<string, KeptLine>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  constructor(private readonly parts: ControlChannelsDependencies) {}

  /** The workspace is being used and its agent was just reached: there is a line from now on, or very soon. */
  keep(workspaceId: string, connect: Connect): void {
    if (this.#isClosed) return;
    const known = this.#lines.get(workspaceId);
    this.#lines.delete(workspaceId);
    const line = known ?? this.#begin(workspaceId, connect);
    this.#lines.set(workspaceId, line);
    line.retry();
    const [oldestId] = this.#lines.keys();
    if (oldestId !== undefined && this.#lines.size > MAX_LINES) this.#drop(oldestId);
  }

  /** The workspace is stopped: nobody asks from there any more. */
  leave(workspaceId: string): void {
    this.#lines.get(workspaceId)?.close();
    this.#lines.delete(workspaceId);
  }

  /** Resolves when no line is open and nothing is being answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const line of this.#lines.values()) line.close();
    await Promise.all(this.#ending);
  }

  #begin(workspaceId: string, connect: Connect): KeptLine {
    // It stays for whoever works there, long after the turn that needs it first.
    const line: KeptLine = runDetached(() => new KeptLine(this.parts, workspaceId, connect));
    const ending = line.ended.then(() => {
      this.#ending.delete(ending);
      if (this.#lines.get(workspaceId) === line) this.#lines.delete(workspaceId);
    });
    this.#ending.add(ending);
    return line;
  }

  #drop(workspaceId: string): void {
    this.parts.log.warn({ lines: this.#lines.size }, "Too many workspaces are in use; one loses its line");
    this.#lines.get(workspaceId)?.close();
    this.#lines.delete(workspaceId);
  }
}

class KeptLine {
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly #closing = new AbortController();
  #open: ControlChannel | null = null;
  #wake: () => void = () => {};

  constructor(
    private readonly parts: ControlChannelsDependencies,
    private readonly workspaceId: string,
    private readonly connect: Connect,
  ) {
    this.ended = this.#keep();
  }

  /** Does not wait any longer, if it waits. */
  retry(): void {
    this.#wake();
  }

  close(): void {
    this.#closing.abort();
    this.#open?.close();
    this.#wake();
  }

  async #keep(): Promise<void> {
    const { log, random } = this.parts;
    const { workspaceId } = this;
    let delayMs = FIRST_RETRY_DELAY_MS;
    for (let failures = 0; failures < MAX_FAILURES;) {
      const failure = await this.#openOnce();
      if (this.#closing.signal.aborted) return;
      failures = failure === null ? 0 : failures + 1;
      if (failure === null) delayMs = FIRST_RETRY_DELAY_MS;
      log.debug({ err: failure, workspaceId, delayMs }, "A workspace's agent has no line to this server now");
      await this.#pause(delayMs * (1 + random()));
      if (this.#closing.signal.aborted) return;
      delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
    }
    log.warn({ workspaceId }, "A workspace's agent takes no line; its commands get no git credentials");
  }

  /** Resolves when the line has ended, to null; or to why there was none. */
  async #openOnce(): Promise<unknown> {
    const { signal } = this.#closing;
    let leave: () => void = () => {};
    const closed = new Promise<null>((resolve) => (leave = () => resolve(null)));
    signal.addEventListener("abort", leave, { once: true });
    try {
      // What is still being opened is left: that may take as long as an agent's start, and it closes itself.
      this.#open = await Promise.race([this.#openLine(), closed]);
      // It may have been closed in the moment in which it opened.
      if (signal.aborted) this.#open?.close();
      await this.#open?.ended;
      return null;
    } catch (error) {
      return error;
    } finally {
      this.#open = null;
      signal.removeEventListener("abort", leave);
    }
  }

  async #openLine(): Promise<ControlChannel> {
    const { parts, workspaceId } = this;
    const connection = await this.connect();
    const line = await connection.openControlChannel({
      answer: (request) => parts.answer(workspaceId, request),
      failed: (error) =>
        parts.log.error({ err: error, workspaceId }, "A workspace agent's question could not be answered"),
    });
    if (this.#closing.signal.aborted) line.close();
    return line;
  }

  async #pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await sleep(this.parts.clock, ms, woken.signal);
    this.#wake = () => {};
  }
}
