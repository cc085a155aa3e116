/**
 * Bounds the reads with which streams begin: when all clients come back in one moment, their snapshots are read a few
 * at a time, and those who would have to wait for long are told to come back later.
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
  // More at once only wait for the database's connections, and hold up everybody else's statements.
  maxRunning: 32,
  // A replica's most sockets, all come back at once.
  maxWaiting: 10_000,
  waitMs: 10_000,
});
/** Of one user at one time: each may read and hold as much as the largest answer. */
const SNAPSHOTS_PER_USER = 4;
/** Refusals are logged at most this often, with their number. */
const WARNING_INTERVAL_MS = 10_000;

type Answer<R> = R | Promise<R>;
/** Who asks, as far as it matters here. */
type AskedBy = { readonly asker: { viewer(): Pick<Viewer, "userId"> } };

export class SnapshotAdmission {
  readonly #semaphore: BoundedSemaphore;
  /** Of users with a snapshot that is read or waits. */
  readonly #byUser = new Map<string, BoundedSemaphore>();
  #refused = 0;
  #warnedAt = -Infinity;

  constructor(
    private readonly parts: { clock: Clock; log: Log },
    private readonly bounds: SemaphoreLimits = SNAPSHOT_BOUNDS,
  ) {
    this.#semaphore = new BoundedSemaphore(bounds, parts.clock);
  }

  /** The same source; opening a stream waits for its turn, or fails with UNAVAILABLE. */
  openings(source: ChatEventsSource): ChatEventsSource {
    return {
      subscribe: (viewer: Viewer, chatId: string, after: string | null) =>
        this.#admitted(this.#semaphore.acquire(), () => source.subscribe(viewer, chatId, after)),
    };
  }

  /** The same execution; of a refresh, whose chat is read anew, it waits for its turn, or fails with UNAVAILABLE. */
  refreshes<A extends AskedBy, R>(
    execute: (event: unknown, asking: A) => Answer<R>,
  ): (event: unknown, asking: A) => Answer<R> {
    return (event, asking) =>
      isRefresh(event)
        ? this.#admitted(this.#enterAs(asking.asker.viewer().userId), async () => execute(event, asking))
        : execute(event, asking);
  }

  /** Sends away whoever waits. */
  close(): void {
    this.#semaphore.close();
    for (const own of this.#byUser.values()) own.close();
  }

  /** First the user's own turn, so that nobody's storm takes the others' places. */
  async #enterAs(userId: string): Promise<Release | null> {
    const { maxWaiting, waitMs } = this.bounds;
    const own =
      this.#byUser.get(userId) ??
      new BoundedSemaphore({ maxRunning: SNAPSHOTS_PER_USER, maxWaiting, waitMs }, this.parts.clock);
    this.#byUser.set(userId, own);
    const leaveOwn = await own.acquire();
    const leave = leaveOwn && (await this.#semaphore.acquire());
    const end = () => {
      leave?.();
      leaveOwn?.();
      const left = own.count();
      if (left.running + left.waiting === 0) this.#byUser.delete(userId);
    };
    if (leave) return end;
    end();
    return null;
  }

  async #admitted<R>(entering: Promise<Release | null>, work: () => Promise<R>): Promise<R> {
    const leave = await entering;
    if (!leave) {
      this.#warn();
      throw unavailable("Too many streams are being opened at this server now; try again later.");
    }
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #warn(): void {
    this.#refused += 1;
    const now = this.parts.clock.now();
    if (now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.parts.log.warn(
      { refused: this.#refused, ...this.#semaphore.count() },
      "Too many snapshots are asked for; clients are told to come back later",
    );
    this.#warnedAt = now;
    this.#refused = 0;
  }
}

/** A chat's: that of a list says no more than that the list is to be read. */
function isRefresh(event: unknown): boolean {
  return (event as ChatEvent).type === "refresh" && "chatId" in (event as ChatEvent);
}
