/** Temporary outages of the database, which are not the fault of the request or turn that needed it. */

/**
 * PostgreSQL is unavailable: unreachable, starting, stopping, out of connections or disk, or it closed the connection.
 * The statement may or may not have taken effect; a retry may succeed later.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";

  /** `cause`: the error of PostgreSQL or of the connection. */
  constructor(cause: unknown) {
    super(`The database is unavailable: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
/** PostgreSQL's `disk_full`. */
const DISK_FULL = "53100";
/** Depth of the search through causes; drivers and transactions wrap an error once or twice. */
const MAX_CAUSES = 5;

/** Whether the database refused a write because its disk is full. */
export function isDiskFull(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if ("code" in cause && cause.code === DISK_FULL) return true;
    cause = cause.cause;
  }
  return false;
}
