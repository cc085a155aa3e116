/**
 * Watch over the repositories of one chat's workspace, shared by all of the chat's readers on this replica.
 * States: connecting → watching → (agent lost) waiting → connecting …, and from any of them closed, by `close` alone. The
 * newest snapshot is kept through all of them.
 */
import { type GitRepository, type GitSnapshot, pushedBetween } from "../../domain/git/git-snapshot.js";
import { EventStream } from "../../events/common/event-stream.js";
import { sleep, type Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type {
  AgentConnection,
  AgentGitWatch,
  GitWatchMessage,
} from "../../workspaces/agent-client/agent-connection.js";
import { GitSnapshotMerger, isSameSnapshot } from "../../workspaces/agent-client/git-snapshot-merge.js";

/** Doubled with every further retry. */
const FIRST_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 10_000;
/** An unread snapshot is replaced by the next one. */
const ONE_WAITING = { events: 1, bytes: Infinity };

export type GitWatchDependencies = {
  chatId: string;
  /** Rejects when the workspace cannot be reached now. */
  connect(): Promise<AgentConnection>;
  clock: Clock;
  log: Log;
  /** In [0, 1); for jitter. */
  random(): number;
  /** Called when watched branches were pushed, or fetched. Never throws. */
  pushSeen(repositories: readonly GitRepository[]): void;
};

type Waiter = { afterRefresh: number; settle(snapshot: GitSnapshot | null): void };

export class GitWatch {
  /** Current readers and waiting requests. */
  users = 0;
  readonly #readers = new Set<EventStream<GitSnapshot>>();
  readonly #waiters = new Set<Waiter>();
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  #snapshot: GitSnapshot | null = null;
  #agent: AgentGitWatch | null = null;
  #lastRefresh = 0;
  /** Whether the current agent has git. */
  #hasGit = true;

  constructor(private readonly dependencies: GitWatchDependencies) {
    this.#watching = this.#watchUntilClosed();
  }

  /** Starts with the newest snapshot, if there is one. `released` is called once, when the stream ends. */
  read(released: () => void): EventStream<GitSnapshot> {
    const stream: EventStream<GitSnapshot> = new EventStream(() => {
      this.#readers.delete(stream);
      released();
    }, ONE_WAITING);
    this.#readers.add(stream);
    if (this.#snapshot !== null) stream.push(this.#snapshot, 0);
    return stream;
  }

  /** The newest snapshot, or the first within `ms`; null on timeout. */
  newest(ms: number): Promise<GitSnapshot | null> {
    return this.#snapshot === null ? this.#wait(0, ms) : Promise.resolve(this.#snapshot);
  }

  /** A snapshot scanned after this call, within `ms`; null on timeout. */
  refreshed(ms: number): Promise<GitSnapshot | null> {
    this.#lastRefresh += 1;
    this.#agent?.refresh(this.#lastRefresh);
    if (!this.#hasGit) {
      this.#publishEmpty();
      return this.newest(ms);
    }
    return this.#wait(this.#lastRefresh, ms);
  }

  /** Resolves all waiting requests with null. */
  cancelWaits(): void {
    for (const waiter of [...this.#waiters]) waiter.settle(null);
  }

  /** Ends all streams; resolves when the watch has stopped. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#agent?.close();
    this.cancelWaits();
    for (const stream of [...this.#readers]) stream.end();
    await this.#watching;
  }

  #wait(afterRefresh: number, ms: number): Promise<GitSnapshot | null> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        afterRefresh,
        settle: (snapshot) => {
          cancel();
          this.#waiters.delete(waiter);
          resolve(snapshot);
        },
      };
      const cancel = this.dependencies.clock.after(ms, () => waiter.settle(null));
      this.#waiters.add(waiter);
    });
  }

  async #watchUntilClosed(): Promise<void> {
    const { signal } = this.#closing;
    const { chatId, clock, log, random } = this.dependencies;
    let delayMs = FIRST_RETRY_DELAY_MS;
    while (!signal.aborted) {
      const outcome = await this.#watchOnce();
      if (signal.aborted) return;
      if (outcome.hasWatched) delayMs = FIRST_RETRY_DELAY_MS;
      log.debug({ err: outcome.reason, chatId, delayMs }, "git watch lost; retrying");
      this.cancelWaits();
      await sleep(clock, delayMs * (1 + random()), signal);
      delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
    }
  }

  /** Resolves when the watch is lost, could not be opened, or is closed. */
  async #watchOnce(): Promise<{ hasWatched: boolean; reason: unknown }> {
    const fold = new GitSnapshotMerger();
    let hasWatched = false;
    let lose: (reason: unknown) => void = () => undefined;
    const lost = new Promise<unknown>((resolve) => (lose = resolve));
    const { signal } = this.#closing;
    const leave = () => lose(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    const heard = (message: GitWatchMessage) => {
      this.#onMessage(message, fold);
      // Only a scan resets the backoff: an agent that connects and then fails is not retried without a pause.
      hasWatched ||= message.type === "scanned" || !this.#hasGit;
    };
    const opening = this.#open({ heard, lost: lose }).catch(lose);
    const reason = await lost;
    signal.removeEventListener("abort", leave);
    this.#agent = null;
    this.#hasGit = true;
    // A connection still being opened closes itself; not awaited, as it may take as long as an agent's start.
    void opening;
    return { hasWatched, reason };
  }

  async #open(listener: {
    heard(message: GitWatchMessage): void;
    lost(reason: unknown): void;
  }): Promise<void> {
    const connection = await this.dependencies.connect();
    if (this.#closing.signal.aborted) return;
    const agent = await connection.watchGit(listener);
    if (this.#closing.signal.aborted) return agent.close();
    this.#agent = agent;
    // A refresh was requested before the agent was connected.
    if (this.#lastRefresh > 0) agent.refresh(this.#lastRefresh);
  }

  #onMessage(message: GitWatchMessage, fold: GitSnapshotMerger): void {
    // Without git there are no repositories, and no further messages.
    if (message.type === "ready") this.#hasGit = message.hasGit;
    if (!this.#hasGit) return this.#publishEmpty();
    const scan = fold.take(message);
    if (scan !== undefined) this.#publish(scan);
  }

  #publishEmpty(): void {
    const snapshot = { repositories: [], scannedAt: this.dependencies.clock.now() };
    this.#publish({ snapshot, answers: this.#lastRefresh });
  }

  #publish({ snapshot, answers }: { snapshot: GitSnapshot; answers: number }): void {
    const pushed = this.#snapshot === null ? [] : pushedBetween(this.#snapshot, snapshot);
    if (pushed.length > 0) this.dependencies.pushSeen(pushed);
    const hasChanged = this.#snapshot === null || !isSameSnapshot(this.#snapshot, snapshot);
    this.#snapshot = snapshot;
    for (const waiter of [...this.#waiters]) {
      if (waiter.afterRefresh <= answers) waiter.settle(snapshot);
    }
    if (!hasChanged) return;
    for (const stream of this.#readers) {
      if (!stream.push(snapshot, 0)) stream.replaceAll(snapshot, () => undefined);
    }
  }
}
