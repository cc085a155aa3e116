/** What cannot be reached for a while, through no fault of the request or the turn that needed it. */

/**
 * PostgreSQL does not serve at this moment: it is away, starting, stopping, out of connections or of disk, or it has
 * closed the connection. What was asked may or may not have been done; the same may work later.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";

  /** `cause`: what PostgreSQL or the way to it said. */
  constructor(cause: unknown) {
    super(`The database does not serve now: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
/** PostgreSQL's `disk_full`. */
const DISK_FULL = "53100";
/** Causes that are looked through; drivers and transactions wrap an error once or twice. */
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
