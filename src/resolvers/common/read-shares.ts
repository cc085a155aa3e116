/**
 * Bounds each viewer's concurrent read statements: one operation may select many things at once, and all users share the
 * database's connections.
 */
import type { Clock } from "../../lib/clock.js";
import type { SemaphoreLimits } from "../../lib/concurrency/bounded-semaphore.js";
import { KeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.js";
import type { Database, Queryable, Statement } from "../../store/common/database.js";
import { unavailable } from "./errors.js";

/** A database handle for reads. */
export type Reads = Queryable & Pick<Database, "transaction">;

export const READ_BOUNDS: Readonly<SemaphoreLimits> = Object.freeze({
  // Together with a user's concurrent mutations still below the ten connections of a server.
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

  /** The database for this viewer's reads. Statements that wait too long fail with UNAVAILABLE. */
  of(userId: string): Reads {
    return {
      query: ((statement: Statement, values: unknown[]) =>
        this.#bounded(userId, () => this.database.query(statement, values))) as Queryable["query"],
      transaction: (work) => this.#bounded(userId, () => this.database.transaction(work)),
    };
  }

  async #bounded<T>(userId: string, work: () => Promise<T>): Promise<T> {
    const release = await this.#semaphores.acquire(userId);
    if (!release) throw unavailable("Too many of your reads are running on this server; retry later.");
    try {
      return await work();
    } finally {
      release();
    }
  }
}
