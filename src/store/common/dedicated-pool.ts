/** A pool of one connection beside the shared pool, with the same address and credentials. */
import pg from "pg";

export type DedicatedOptions = {
  /** How PostgreSQL lists the connection. */
  applicationName: string;
  /** Longest wait for the connection, in milliseconds. */
  limitMs: number;
  /** Other options that differ from the shared pool's. */
  more?: pg.PoolConfig;
};

/** Connects with the first statement. A connection that breaks while idle is replaced by the next statement. */
export function dedicatedPool(
  { options }: pg.Pool,
  { applicationName, limitMs, more }: DedicatedOptions,
): pg.Pool {
  const pool = new pg.Pool({
    ...options,
    // Not enumerable in pg's options.
    password: options.password,
    application_name: applicationName,
    max: 1,
    connectionTimeoutMillis: limitMs,
    ...more,
  });
  pool.on("error", () => undefined);
  return pool;
}
