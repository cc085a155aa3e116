/**
 * Records the last use of workspaces, at most once a minute each, so that not every step of a turn executes a
 * statement.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Queryable } from "../../store/common/database.js";
import { touchWorkspaces } from "../../store/workspaces/workspaces.js";

/** Idle times are at least a minute. */
const WRITE_INTERVAL_MS = 60_000;
const MAX_CACHED = 10_000;

export class WorkspaceUse {
  /** When this replica last recorded the use of each workspace. */
  readonly #notedAt = new LRUCache<string, number>({ max: MAX_CACHED });
  readonly #writing = new Set<Promise<void>>();

  constructor(private readonly dependencies: { database: Queryable; clock: Clock; log: Log }) {}

  /** Restarts the workspaces' idle time. Never throws; a failed write is repeated a minute later. */
  note(workspaceIds: Iterable<string>): void {
    const now = this.dependencies.clock.now();
    const due = [...new Set(workspaceIds)].filter(
      (id) => now - (this.#notedAt.get(id) ?? -Infinity) >= WRITE_INTERVAL_MS,
    );
    if (due.length === 0) return;
    for (const id of due) this.#notedAt.set(id, now);
    const writing = touchWorkspaces(this.dependencies.database, due, now)
      .catch((error: unknown) =>
        this.dependencies.log.warn(
          { err: error, workspaces: due.length },
          "last use of workspaces was not written",
        ),
      )
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** Resolves when all writes have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#writing);
  }
}
