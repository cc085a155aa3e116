/** Notes that workspaces are in use, at most once a minute each: a turn of many steps costs no statement for each. */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import type { Queryable } from "../../store/common/database.js";
import { touchWorkspaces } from "../../store/workspaces/workspaces.js";

/** Exact enough for idle times, which are a minute at least. */
const NOTE_EVERY_MS = 60_000;
const MAX_REMEMBERED = 10_000;

export class WorkspaceUse {
  /** When the use was last noted by this replica. */
  readonly #notedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  readonly #writing = new Set<Promise<void>>();

  constructor(private readonly dependencies: { database: Queryable; clock: Clock; log: Log }) {}

  /** They are in use now: whatever stops idle ones counts from here. Never throws; what fails is noted a minute later. */
  note(workspaceIds: Iterable<string>): void {
    const now = this.dependencies.clock.now();
    const due = [...new Set(workspaceIds)].filter(
      (id) => now - (this.#notedAt.get(id) ?? -Infinity) >= NOTE_EVERY_MS,
    );
    if (due.length === 0) return;
    for (const id of due) this.#notedAt.set(id, now);
    const writing = touchWorkspaces(this.dependencies.database, due, now)
      .catch((error: unknown) =>
        this.dependencies.log.warn(
          { err: error, workspaces: due.length },
          "The last use of workspaces was not written",
        ),
      )
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** Resolves when everything noted is written. */
  async close(): Promise<void> {
    await Promise.all(this.#writing);
  }
}
