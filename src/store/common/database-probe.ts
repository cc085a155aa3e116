/**
 * Health check of the database on a connection of its own, so that a busy pool does not fail it.
 */
import type { Pool } from "pg";
import type { Database } from "./database.js";
import { dedicatedPool } from "./dedicated-pool.js";

export class DatabaseProbe {
  readonly #pool: Pool;

  /** Connects with the first `ask`. Connecting or a statement fails after `limitMs`. */
  constructor(database: Pick<Database, "pool">, limitMs: number) {
    const more = { min: 0, query_timeout: limitMs };
    this.#pool = dedicatedPool(database.pool, { applicationName: "parley health", limitMs, more });
  }

  /** Rejects when the database does not answer. */
  async ask(): Promise<void> {
    await this.#pool.query("SELECT 1");
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
