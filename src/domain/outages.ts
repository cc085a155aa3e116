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
