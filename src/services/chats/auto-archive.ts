/**
 * Puts chats away that nobody has touched for long: once an hour, on one replica at a time, through the transition
 * that a person's own archiving takes. A chat that moves in that moment is left alone.
 */
import type { Log } from "../../lib/log.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import { findIdleChats, tryAutoArchiveLock, type IdleChat } from "../../store/chats/auto-archive.js";
import { applyToFamily } from "../../engine/transitions/apply-family.js";
import type { TransitionDependencies } from "../../engine/transitions/apply-transition.js";

const TICK_MS = 3_600_000;
const DAY_MS = 86_400_000;
const BATCH = 100;
/** The first hours after it is switched on work off what has gathered; each chat is a transaction of its own. */
const MAX_PER_TICK = 5_000;

/** Thrown to undo: somebody did something to the chat since it was found. */
class Moved extends Error {}

export class AutoArchive {
  readonly #dependencies: TransitionDependencies & { log: Log };
  readonly #afterMs: number;
  readonly #job: PeriodicJob;

  /** `afterDays`: days without a change, more than 0. */
  constructor(dependencies: TransitionDependencies & { log: Log }, { afterDays }: { afterDays: number }) {
    this.#dependencies = dependencies;
    this.#afterMs = afterDays * DAY_MS;
    this.#job = new PeriodicJob({
      clock: dependencies.clock,
      intervalMs: TICK_MS,
      run: () => this.archiveIdle(),
      onError: (error) => dependencies.log.error({ err: error }, "Looking for idle chats failed"),
    });
  }

  /** Looks at once and then every hour. */
  start(): void {
    this.#job.start({ immediately: true });
  }

  /** Resolves when nothing is being archived any more; a chat in hand is finished. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One look; the number of chats that were put away. Rejects when the database does. */
  async archiveIdle(): Promise<number> {
    const { database, clock, log } = this.#dependencies;
    const before = clock.now() - this.#afterMs;
    // The transaction holds the lock and nothing else; each chat has its own.
    const archived = await database.transaction(async (lock) =>
      (await tryAutoArchiveLock(lock)) ? this.#archiveBatches(before) : 0,
    );
    if (archived > 0)
      log.info({ archived, idleSince: new Date(before).toISOString() }, "Idle chats were archived");
    return archived;
  }

  async #archiveBatches(before: number): Promise<number> {
    const passedOver: string[] = [];
    let archived = 0;
    while (archived + passedOver.length < MAX_PER_TICK) {
      const found = await findIdleChats(this.#dependencies.database, { before, passedOver, limit: BATCH });
      for (const chat of found) {
        if (this.#job.isClosing) return archived;
        if (await this.#archive(chat)) archived += 1;
        else passedOver.push(chat.chatId);
      }
      if (found.length < BATCH) return archived;
    }
    this.#dependencies.log.info({ limit: MAX_PER_TICK }, "More idle chats are left for the next hour");
    return archived;
  }

  /** One chat that cannot be archived must not keep the others. */
  async #archive({ chatId, version }: IdleChat): Promise<boolean> {
    try {
      const result = await applyToFamily(this.#dependencies, {
        chatId,
        commands: [{ type: "archive" }],
        below: () => [{ type: "archive" }],
        alongside: async (_transaction, { state }) => {
          if (state.snapshotVersion !== version + 1) throw new Moved();
        },
      });
      return result.outcome === "changed";
    } catch (error) {
      if (!(error instanceof Moved))
        this.#dependencies.log.error({ err: error, chatId }, "An idle chat was not archived");
      return false;
    }
  }
}
