/**
 * Cache of users' push subscriptions, as turns end far more often than subscriptions change, and most users have none.
 * Invalidated on every replica by a change, and after `FRESH_MS` in case the announcement was lost.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { PushTarget } from "../../store/push/push.js";

const FRESH_MS = 60_000;
const MAX_USERS = 10_000;

type Known = { targets: Promise<readonly PushTarget[]>; readAtMs: number };

export type PushTargetsDependencies = {
  clock: Clock;
  list(userId: string): Promise<readonly PushTarget[]>;
};

export class PushTargets {
  /** Including reads in progress: a change removes them, so that later callers do not get the old value. */
  readonly #known = new LRUCache<string, Known>({ max: MAX_USERS });

  constructor(private readonly dependencies: PushTargetsDependencies) {}

  /** Rejects only when the database fails; the next call reads again. */
  of(userId: string): Promise<readonly PushTarget[]> {
    const known = this.#known.get(userId);
    const now = this.dependencies.clock.now();
    if (known && now - known.readAtMs < FRESH_MS) return known.targets;
    const reading: Known = { targets: this.dependencies.list(userId), readAtMs: now };
    this.#known.set(userId, reading);
    reading.targets.catch(() => {
      if (this.#known.get(userId) === reading) this.#known.delete(userId);
    });
    return reading.targets;
  }

  /** Call after any subscription has changed. */
  forget(): void {
    this.#known.clear();
  }
}
