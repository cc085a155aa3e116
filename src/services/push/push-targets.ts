/**
 * Where people are told, remembered: turns end far more often than browsers come and go, and most people have none.
 * Whoever registers is heard on every replica at once, and without the bus after `FRESH_MS`.
 */
import { LRUCache } from "lru-cache";
import type { Clock } from "../../lib/clock.js";
import type { PushTarget } from "../../store/push/push.js";

const FRESH_MS = 60_000;
const MAX_PEOPLE = 10_000;

type Known = { targets: Promise<readonly PushTarget[]>; readAtMs: number };

export type PushTargetsDependencies = {
  clock: Clock;
  list(userId: string): Promise<readonly PushTarget[]>;
};

export class PushTargets {
  /** Reads under way too: a change takes them out, so that nobody after it gets what was read before. */
  readonly #known = new LRUCache<string, Known>({ max: MAX_PEOPLE });

  constructor(private readonly dependencies: PushTargetsDependencies) {}

  /** Rejects only when the database does; the next call asks again. */
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

  /** Somebody's browsers have changed. */
  forget(): void {
    this.#known.clear();
  }
}
