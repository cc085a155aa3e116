/**
 * Bounds the statements with which one viewer reads at one time: one operation may ask for many things beside each other,
 * and the database's connections are for everybody.
 */
import type { Clock } from "../../lib/clock.js";
import type { SemaphoreLimits } from "../../lib/concurrency/bounded-semaphore.js";
import { KeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.js";
import type { Database, Queryable, Statement } from "../../store/common/database.js";
import { unavailable } from "./errors.js";

/** What a viewer reads with. */
export type Reads = Queryable & Pick<Database, "transaction">;

export const READ_BOUNDS: Readonly<SemaphoreLimits> = Object.freeze({
  // With the mutations that one user may have running still below the ten connections of a server.
  maxRunning: 4,
  maxWaiting: 4_096,
  waitMs: 30_000,
});

export class ReadShares {
  readonly #semaphores: KeyedSemaphore;

  constructor(
    private readonly database: Reads,
    clock: Clock,
    bounds: SemaphoreLimits = READ_BOUNDS,
  ) {
    this.#semaphores = new KeyedSemaphore(bounds, clock);
  }

  /** The database as this viewer reads it. What waits too long fails with UNAVAILABLE. */
  of(userId: string): Reads {
    return {
      query: ((statement: Statement, values: unknown[]) =>
        this.#bounded(userId, () => this.database.query(statement, values))) as Queryable["query"],
      transaction: (work) => this.#bounded(userId, () => this.database.transaction(work)),
    };
  }

  async #bounded<T>(userId: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#semaphores.acquire(userId);
    if (!release) throw unavailable("Too much is being read for you at this server now; try again later.");
    try {
      return await work();
    } finally {
      release();
    }
  }
}
