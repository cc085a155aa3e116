/** Whether the database refused a write because its disk is full. */

/** PostgreSQL's `disk_full`. */
const DISK_FULL = "53100";
/** Causes that are looked through; drivers and transactions wrap an error once or twice. */
const MAX_CAUSES = 5;

export function isDiskFull(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if ("code" in cause && cause.code === DISK_FULL) return true;
    cause = cause.cause;
  }
  return false;
}
