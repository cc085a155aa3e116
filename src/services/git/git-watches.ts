/** This replica's git watches: one per chat while it has readers. */
import type {
  GitRepository,
  GitSnapshot,
  GitSnapshotsSource,
  WatchedChat,
} from "../../domain/git/git-snapshot.js";
import { EventStream } from "../../events/common/event-stream.js";
import type { Clock } from "../../lib/clock.js";
import { KeyedSupervisor } from "../../lib/concurrency/keyed-supervisor.js";
import type { Log } from "../../lib/log.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import { GitWatch } from "./git-watch.js";

/** Each is a WebSocket and a snapshot of up to 24 MiB, usually a few kilobytes. */
const MAX_WATCHES = 1_000;
/** Bound for a page that shows a chat. */
const READ_WAIT_MS = 5_000;
/** A requested status scan may wait for a repository for which git takes long. */
const REFRESH_WAIT_MS = 30_000;
/** The limit is logged at most this often. */
const WARNING_INTERVAL_MS = 10_000;

export type GitWatchesDependencies = {
  /** Rejects when the workspace cannot be reached now. */
  connect(workspaceId: string, chatId: string): Promise<AgentConnection>;
  clock: Clock;
  log: Log;
  /** In [0, 1); for jitter. */
  random(): number;
  /** Called when a watched chat's branch was pushed, or fetched. `close` waits for it. */
  pushSeen(chatId: string, work: { branch: string; remoteOrigin: string }): Promise<void>;
};

export class GitWatches implements GitSnapshotsSource {
  /** By chat. */
  readonly #watches = new KeyedSupervisor<GitWatch>();
  readonly #unbound = new Set<EventStream<GitSnapshot>>();
  readonly #noting = new Set<Promise<void>>();
  #warnedAt = -Infinity;
  #isAnswering = true;

  constructor(private readonly dependencies: GitWatchesDependencies) {}

  /** Number of watched chats. */
  get subscribedChats(): number {
    return this.#watches.size;
  }

  subscribe(chat: WatchedChat): EventStream<GitSnapshot> | null {
    if (chat.workspaceId === null) return this.#subscribeUnbound();
    const watch = this.#enter(chat.chatId, chat.workspaceId);
    return watch && watch.read(() => this.#leave(chat.chatId, watch));
  }

  read({ chatId, workspaceId }: WatchedChat): Promise<GitSnapshot | null> {
    return this.#ask(chatId, workspaceId, (watch) => watch.newest(READ_WAIT_MS));
  }

  refresh({ chatId, workspaceId }: WatchedChat): Promise<GitSnapshot | null> {
    return this.#ask(chatId, workspaceId, (watch) => watch.refreshed(REFRESH_WAIT_MS));
  }

  /** Resolves all requests with null, now and later; streams go on. */
  stopAnswering(): void {
    this.#isAnswering = false;
    for (const watch of this.#watches.values()) watch.cancelWaits();
  }

  /** Ends all streams; resolves when all watches have stopped. */
  async close(): Promise<void> {
    const closed = this.#watches.close();
    for (const stream of [...this.#unbound]) stream.end();
    await closed;
    await Promise.all(this.#noting);
  }

  /** A chat keeps its workspace, or its lack of one. */
  #subscribeUnbound(): EventStream<GitSnapshot> {
    const stream: EventStream<GitSnapshot> = new EventStream(() => this.#unbound.delete(stream));
    this.#unbound.add(stream);
    stream.push({ repositories: [], scannedAt: this.dependencies.clock.now() }, 0);
    if (this.#watches.isClosed) stream.end();
    return stream;
  }

  async #ask(
    chatId: string,
    workspaceId: string | null,
    question: (watch: GitWatch) => Promise<GitSnapshot | null>,
  ): Promise<GitSnapshot | null> {
    if (workspaceId === null || !this.#isAnswering) return null;
    const watch = this.#enter(chatId, workspaceId);
    if (watch === null) return null;
    try {
      return await question(watch);
    } finally {
      this.#leave(chatId, watch);
    }
  }

  /** Null when the replica is at its limit, or closed. Call `#leave` once per call. */
  #enter(chatId: string, workspaceId: string): GitWatch | null {
    const known = this.#watches.get(chatId);
    if (known === undefined && (this.#watches.isClosed || this.#watches.size >= MAX_WATCHES))
      return this.#refuse();
    const start = () => new GitWatch(this.#dependenciesFor(chatId, workspaceId));
    const watch = known ?? this.#watches.ensure(chatId, start);
    watch.users += 1;
    return watch;
  }

  #dependenciesFor(chatId: string, workspaceId: string) {
    const { connect, clock, log, random } = this.dependencies;
    const pushSeen = (repositories: readonly GitRepository[]) => this.#notePushes(chatId, repositories);
    return { chatId, connect: () => connect(workspaceId, chatId), clock, log, random, pushSeen };
  }

  #notePushes(chatId: string, repositories: readonly GitRepository[]): void {
    for (const { branch, remoteOrigin } of repositories) {
      if (branch === null || remoteOrigin === null) continue;
      const noting = this.dependencies
        .pushSeen(chatId, { branch, remoteOrigin })
        .catch((error: unknown) =>
          this.dependencies.log.warn({ err: error, chatId }, "push was not recorded"),
        )
        .finally(() => this.#noting.delete(noting));
      this.#noting.add(noting);
    }
  }

  #leave(chatId: string, watch: GitWatch): void {
    watch.users -= 1;
    if (watch.users > 0) return;
    void this.#watches.stop(chatId);
  }

  #refuse(): null {
    const now = this.dependencies.clock.now();
    if (this.#watches.isClosed || now - this.#warnedAt < WARNING_INTERVAL_MS) return null;
    this.#warnedAt = now;
    this.dependencies.log.warn({ watches: this.#watches.size }, "too many git watches; refusing more");
    return null;
  }
}
