/**
 * One chat's watch over the repositories of its workspace, shared by all who look at that chat through this replica.
 * States: connecting → watching → (the agent went) waiting → connecting …, and from any of them closed, by `close`
 * alone. The newest snapshot stays through all of them.
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

/** The first new try comes soon, later ones twice as late each. */
const FIRST_RETRY_DELAY_MS = 250;
const MAX_RETRY_DELAY_MS = 10_000;
/** A reader that has not taken a snapshot wants the next one in its place. */
const ONE_WAITING = { events: 1, bytes: Infinity };

export type GitWatchDependencies = {
  chatId: string;
  /** Rejects when there is no way to the workspace now. */
  connect(): Promise<AgentConnection>;
  clock: Clock;
  log: Log;
  /** In [0, 1); for jitter. */
  random(): number;
  /** Branches have been pushed, or fetched, while they were watched. Never throws. */
  pushSeen(repositories: readonly GitRepository[]): void;
};

type Waiter = { afterRefresh: number; settle(snapshot: GitSnapshot | null): void };

export class GitWatch {
  /** Those who have it open now. */
  users = 0;
  readonly #readers = new Set<EventStream<GitSnapshot>>();
  readonly #waiters = new Set<Waiter>();
  readonly #closing = new AbortController();
  readonly #watching: Promise<void>;
  #snapshot: GitSnapshot | null = null;
  #agent: AgentGitWatch | null = null;
  #lastRefresh = 0;
  /** Of the agent that is watching now. */
  #hasGit = true;

  constructor(private readonly dependencies: GitWatchDependencies) {
    this.#watching = this.#keepWatching();
  }

  /** Begins with the newest snapshot, when there is one. `released` is called once, when the reader leaves. */
  read(released: () => void): EventStream<GitSnapshot> {
    const stream: EventStream<GitSnapshot> = new EventStream(() => {
      this.#readers.delete(stream);
      released();
    }, ONE_WAITING);
    this.#readers.add(stream);
    if (this.#snapshot !== null) stream.push(this.#snapshot, 0);
    return stream;
  }

  /** The newest snapshot, or the first that comes within `ms`; null when none can come so soon. */
  newest(ms: number): Promise<GitSnapshot | null> {
    return this.#snapshot === null ? this.#wait(0, ms) : Promise.resolve(this.#snapshot);
  }

  /** A snapshot that is made from now on, within `ms`; null when none can come so soon. */
  refreshed(ms: number): Promise<GitSnapshot | null> {
    this.#lastRefresh += 1;
    this.#agent?.refresh(this.#lastRefresh);
    if (!this.#hasGit) {
      this.#takeEmpty();
      return this.newest(ms);
    }
    return this.#wait(this.#lastRefresh, ms);
  }

  /** Whoever waits for a snapshot gets none. */
  giveUp(): void {
    for (const waiter of [...this.#waiters]) waiter.settle(null);
  }

  /** Ends its readers; resolves when it does nothing any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#agent?.close();
    this.giveUp();
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

  async #keepWatching(): Promise<void> {
    const { signal } = this.#closing;
    const { chatId, clock, log, random } = this.dependencies;
    let delayMs = FIRST_RETRY_DELAY_MS;
    while (!signal.aborted) {
      const outcome = await this.#watchOnce();
      if (signal.aborted) return;
      if (outcome.hasWatched) delayMs = FIRST_RETRY_DELAY_MS;
      log.debug({ err: outcome.reason, chatId, delayMs }, "A chat's repositories are not watched now");
      this.giveUp();
      await sleep(clock, delayMs * (1 + random()), signal);
      delayMs = Math.min(delayMs * 2, MAX_RETRY_DELAY_MS);
    }
  }

  /** Resolves when the watch was lost, could not be opened, or is closed. */
  async #watchOnce(): Promise<{ hasWatched: boolean; reason: unknown }> {
    const fold = new GitSnapshotMerger();
    let hasWatched = false;
    let lose: (reason: unknown) => void = () => undefined;
    const lost = new Promise<unknown>((resolve) => (lose = resolve));
    const { signal } = this.#closing;
    const leave = () => lose(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    const heard = (message: GitWatchMessage) => {
      this.#hear(message, fold);
      // An agent that greets and then fails is not tried again and again without a pause.
      hasWatched ||= message.type === "scanned" || !this.#hasGit;
    };
    const opening = this.#open({ heard, lost: lose }).catch(lose);
    const reason = await lost;
    signal.removeEventListener("abort", leave);
    this.#agent = null;
    this.#hasGit = true;
    // Whatever is still being opened closes itself; it is not waited for, since that may take as long as an agent's start.
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
    // Somebody asked while there was nobody to ask.
    if (this.#lastRefresh > 0) agent.refresh(this.#lastRefresh);
  }

  #hear(message: GitWatchMessage, fold: GitSnapshotMerger): void {
    // Without git there is nothing that could differ, and nothing more will be said.
    if (message.type === "ready") this.#hasGit = message.hasGit;
    if (!this.#hasGit) return this.#takeEmpty();
    const scan = fold.take(message);
    if (scan !== undefined) this.#take(scan);
  }

  #takeEmpty(): void {
    const snapshot = { repositories: [], scannedAt: this.dependencies.clock.now() };
    this.#take({ snapshot, answers: this.#lastRefresh });
  }

  #take({ snapshot, answers }: { snapshot: GitSnapshot; answers: number }): void {
    const pushed = this.#snapshot === null ? [] : pushedBetween(this.#snapshot, snapshot);
    if (pushed.length > 0) this.dependencies.pushSeen(pushed);
    const isNews = this.#snapshot === null || !isSameSnapshot(this.#snapshot, snapshot);
    this.#snapshot = snapshot;
    for (const waiter of [...this.#waiters]) {
      if (waiter.afterRefresh <= answers) waiter.settle(snapshot);
    }
    if (!isNews) return;
    for (const stream of this.#readers) {
      if (!stream.push(snapshot, 0)) stream.replaceAll(snapshot, () => undefined);
    }
  }
}
