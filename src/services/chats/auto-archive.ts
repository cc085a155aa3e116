/**
 * Periodic job that archives idle chats: once an hour, on one replica at a time, through the same transition as a
 * user's archiving. A chat that changes in that moment is skipped.
 */
import type { Log } from "../../lib/log.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import { findIdleChats, tryAutoArchiveLock, type IdleChat } from "../../store/chats/auto-archive.js";
import { applyToFamily } from "../../engine/transitions/apply-family.js";
import type { TransitionDependencies } from "../../engine/transitions/apply-transition.js";

const TICK_MS = 3_600_000;
const DAY_MS = 86_400_000;
const BATCH = 100;
/** A backlog is worked off over the first hours after enabling it; each chat is a transaction of its own. */
const MAX_PER_TICK = 5_000;

/** Rolls back the transaction: the chat has changed since it was found. */
class ChangedMeanwhile extends Error {}

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
      onError: (error) => dependencies.log.error({ err: error }, "auto-archive failed"),
    });
  }

  /** Runs at once and then every hour. */
  start(): void {
    this.#job.start({ immediately: true });
  }

  /** Resolves when the chat that is being archived is done. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One run; returns the number of archived chats. Rejects when the database fails. */
  async archiveIdle(): Promise<number> {
    const { database, clock, log } = this.#dependencies;
    const before = clock.now() - this.#afterMs;
    // This transaction only holds the lock; each chat has its own.
    const archived = await database.transaction(async (lock) =>
      (await tryAutoArchiveLock(lock)) ? this.#archiveBatches(before) : 0,
    );
    if (archived > 0)
      log.info({ archived, idleSince: new Date(before).toISOString() }, "archived idle chats");
    return archived;
  }

  async #archiveBatches(before: number): Promise<number> {
    const skipped: string[] = [];
    let archived = 0;
    while (archived + skipped.length < MAX_PER_TICK) {
      const found = await findIdleChats(this.#dependencies.database, {
        before,
        skipped,
        limit: BATCH,
      });
      for (const chat of found) {
        if (this.#job.isClosing) return archived;
        if (await this.#archive(chat)) archived += 1;
        else skipped.push(chat.chatId);
      }
      if (found.length < BATCH) return archived;
    }
    this.#dependencies.log.info(
      { limit: MAX_PER_TICK },
      "more idle chats than one run archives; the rest follow in an hour",
    );
    return archived;
  }

  /** A chat that cannot be archived does not stop the others. */
  async #archive({ chatId, version }: IdleChat): Promise<boolean> {
    try {
      const result = await applyToFamily(this.#dependencies, {
        chatId,
        commands: [{ type: "archive" }],
        below: () => [{ type: "archive" }],
        alongside: async (_transaction, { state }) => {
          if (state.snapshotVersion !== version + 1) throw new ChangedMeanwhile();
        },
      });
      return result.outcome === "changed";
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile))
        this.#dependencies.log.error({ err: error, chatId }, "idle chat was not archived");
      return false;
    }
  }
}
