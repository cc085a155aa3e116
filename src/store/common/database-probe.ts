/**
 * Asks the database whether it serves, on a connection of its own: that all others are in use, or that many wait for one,
 * says nothing about it.
 */
import type { Pool } from "pg";
import type { Database } from "./database.js";
import { dedicatedPool } from "./dedicated-pool.js";

export class DatabaseProbe {
  readonly #pool: Pool;

  /** Opens nothing yet. What takes longer than `limitMs`, connecting or asking, fails. */
  constructor(database: Pick<Database, "pool">, limitMs: number) {
    const more = { min: 0, query_timeout: limitMs };
    this.#pool = dedicatedPool(database.pool, { applicationName: "parley health", limitMs, more });
  }

  /** Rejects when the database does not serve. */
  async ask(): Promise<void> {
    await this.#pool.query("SELECT 1");
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
