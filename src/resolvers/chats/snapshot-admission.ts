/**
 * Bounds the concurrent snapshot reads at the start of streams. When all clients reconnect at once, snapshots are read a
 * few at a time, and clients that would wait too long are refused with UNAVAILABLE.
 */
import type { ChatEvent, ChatEventsSource } from "../../domain/chats/chat-stream.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import {
  type Release,
  BoundedSemaphore,
  type SemaphoreLimits,
} from "../../lib/concurrency/bounded-semaphore.js";
import { unavailable } from "../common/errors.js";

export const SNAPSHOT_BOUNDS: Readonly<SemaphoreLimits> = Object.freeze({
  // More would only wait for database connections and delay other statements.
  maxRunning: 32,
  // The maximum number of sockets per replica, all reconnecting at once.
  maxWaiting: 10_000,
  waitMs: 10_000,
});
/** Concurrent snapshots per user: each may use as much memory as the largest response. */
const SNAPSHOTS_PER_USER = 4;
/** Minimum interval between log lines about refusals, which contain their number. */
const WARNING_INTERVAL_MS = 10_000;

type Answer<R> = R | Promise<R>;
/** The subscriber. */
type AskedBy = { readonly requester: { viewer(): Pick<Viewer, "userId"> } };

export class SnapshotAdmission {
  readonly #semaphore: BoundedSemaphore;
  /** Semaphores of users with a running or waiting snapshot. */
  readonly #byUser = new Map<string, BoundedSemaphore>();
  #refused = 0;
  #warnedAt = -Infinity;

  constructor(
    private readonly parts: { clock: Clock; log: Log },
    private readonly bounds: SemaphoreLimits = SNAPSHOT_BOUNDS,
  ) {
    this.#semaphore = new BoundedSemaphore(bounds, parts.clock);
  }

  /** Wraps a source: opening a stream waits for admission, or fails with UNAVAILABLE. */
  openings(source: ChatEventsSource): ChatEventsSource {
    return {
      subscribe: (viewer: Viewer, chatId: string, after: string | null) =>
        this.#admitted(this.#semaphore.acquire(), () => source.subscribe(viewer, chatId, after)),
    };
  }

  /** Wraps an execution: refresh events, which reload the chat, wait for admission, or fail with UNAVAILABLE. */
  refreshes<A extends AskedBy, R>(
    execute: (event: unknown, asking: A) => Answer<R>,
  ): (event: unknown, asking: A) => Answer<R> {
    return (event, asking) =>
      isRefresh(event)
        ? this.#admitted(this.#acquireFor(asking.requester.viewer().userId), async () =>
            execute(event, asking),
          )
        : execute(event, asking);
  }

  /** Refuses all waiting snapshots. */
  close(): void {
    this.#semaphore.close();
    for (const own of this.#byUser.values()) own.close();
  }

  /** Acquires the user's own semaphore first, so that one user's reconnects cannot block other users. */
  async #acquireFor(userId: string): Promise<Release | null> {
    const { maxWaiting, waitMs } = this.bounds;
    const own =
      this.#byUser.get(userId) ??
      new BoundedSemaphore({ maxRunning: SNAPSHOTS_PER_USER, maxWaiting, waitMs }, this.parts.clock);
    this.#byUser.set(userId, own);
    const releaseOwn = await own.acquire();
    const release = releaseOwn && (await this.#semaphore.acquire());
    const end = () => {
      release?.();
      releaseOwn?.();
      const left = own.count();
      if (left.running + left.waiting === 0) this.#byUser.delete(userId);
    };
    if (release) return end;
    end();
    return null;
  }

  async #admitted<R>(acquiring: Promise<Release | null>, work: () => Promise<R>): Promise<R> {
    const release = await acquiring;
    if (!release) {
      this.#warn();
      throw unavailable("Too many streams are being opened on this server; retry later.");
    }
    try {
      return await work();
    } finally {
      release();
    }
  }

  #warn(): void {
    this.#refused += 1;
    const now = this.parts.clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.parts.log.warn(
      { refused: this.#refused, ...this.#semaphore.count() },
      "too many concurrent snapshots; refusing clients",
    );
    this.#warnedAt = now;
    this.#refused = 0;
  }
}

/** Whether the event refreshes a chat. Refreshes of a list carry no data. */
function isRefresh(event: unknown): boolean {
  return (event as ChatEvent).type === "refresh" && "chatId" in (event as ChatEvent);
}
