/**
 * Asks the database whether it serves, on a connection of its own: that all others are in use, or that many wait for one,
 * says nothing about it.
 */
import pg from "pg";
import type { Database } from "./database.js";

export class DatabaseProbe {
  readonly #pool: pg.Pool;

  /** Opens nothing yet. What takes longer than `limitMs`, connecting or asking, fails. */
  constructor(database: Pick<Database, "pool">, limitMs: number) {
    const { options } = database.pool;
    this.#pool = new pg.Pool({
      ...options,
      // pg hides it from copies.
      password: options.password,
      application_name: "parley health",
      max: 1,
      min: 0,
      connectionTimeoutMillis: limitMs,
      query_timeout: limitMs,
    });
    // One that breaks while it is idle is replaced by the next question.
    this.#pool.on("error", () => undefined);
  }

  /** Rejects when the database does not serve. */
  async ask(): Promise<void> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    // Without a listener a connection that breaks meanwhile would end the process.
    const onError = () => undefined;
    client.on("error", onError);
    try {
      await client.query("SELECT 1");
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.off("error", onError);
      client.release(broken);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}
