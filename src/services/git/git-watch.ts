/**
 * Watch over the repositories of one chat's workspace, shared by all of the chat's readers on this replica. States:
 * connecting → watching → (agent lost) waiting → connecting …, and from any of them closed, by `close` alone. The
 * newest snapshot is kept through all of them.
 */
import { type GitRepository, type GitSnapshot, pushedBetween } from "../../domain/git/git-snapshot.js";
import { EventStream } from "../../events/common/event-stream.js";
import type { Clock } from "../../lib/clock.js";
import { SupervisedTask, type AttemptEnd } from "../../lib/concurrency/supervised-task.js";
import type { Log } from "../../lib/log.js";
import type {
  AgentConnection,
  AgentGitWatch,
  GitWatchListener,
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
  readonly #task: SupervisedTask;
  #snapshot: GitSnapshot | null = null;
  #agent: AgentGitWatch | null = null;
  #lastRefresh = 0;
  /** Whether the current agent has git. */
  #hasGit = true;

  constructor(private readonly dependencies: GitWatchDependencies) {
    const { chatId, clock, log, random } = dependencies;
    this.#task = new SupervisedTask({
      clock,
      random,
      firstDelayMs: FIRST_RETRY_DELAY_MS,
      maxDelayMs: MAX_RETRY_DELAY_MS,
      attempt: (signal) => this.#watchOnce(signal),
      onRetry: (reason, delayMs) => {
        log.debug({ err: reason, chatId, delayMs }, "git watch lost; retrying");
        this.cancelWaits();
      },
    });
  }

  /** Resolves when the watch has stopped. Never rejects. */
  get ended(): Promise<void> {
    return this.#task.ended;
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
    this.#task.close();
    this.#agent?.close();
    this.cancelWaits();
    for (const stream of [...this.#readers]) stream.end();
    await this.ended;
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

  /** Resolves when the watch is lost, could not be opened, or is closed. */
  async #watchOnce(signal: AbortSignal): Promise<AttemptEnd> {
    const merger = new GitSnapshotMerger();
    let wasHealthy = false;
    let lose: (reason: unknown) => void = () => undefined;
    const lost = new Promise<unknown>((resolve) => (lose = resolve));
    const abort = () => lose(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const onMessage = (message: GitWatchMessage) => {
      this.#onMessage(message, merger);
      // Only a scan resets the backoff: an agent that connects and then fails is not retried without a pause.
      wasHealthy ||= message.type === "scanned" || !this.#hasGit;
    };
    const opening = this.#open({ onMessage, onLost: lose }, signal).catch(lose);
    const reason = await lost;
    signal.removeEventListener("abort", abort);
    this.#agent = null;
    this.#hasGit = true;
    // A connection still being opened closes itself; not awaited, as it may take as long as an agent's start.
    void opening;
    return { wasHealthy, reason };
  }

  async #open(listener: GitWatchListener, signal: AbortSignal): Promise<void> {
    const connection = await this.dependencies.connect();
    if (signal.aborted) return;
    const agent = await connection.watchGit(listener);
    if (signal.aborted) return agent.close();
    this.#agent = agent;
    // A refresh was requested before the agent was connected.
    if (this.#lastRefresh > 0) agent.refresh(this.#lastRefresh);
  }

  #onMessage(message: GitWatchMessage, merger: GitSnapshotMerger): void {
    // Without git there are no repositories, and no further messages.
    if (message.type === "ready") this.#hasGit = message.hasGit;
    if (!this.#hasGit) return this.#publishEmpty();
    const scan = merger.apply(message);
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
