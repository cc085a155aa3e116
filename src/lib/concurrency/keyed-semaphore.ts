/** One bounded semaphore per key, all with the same limits: callers wait only behind callers of their own key. */
import type { Clock } from "../clock.js";
import {
  BoundedSemaphore,
  type Release,
  type SemaphoreCounts,
  type SemaphoreLimits,
} from "./bounded-semaphore.js";

export class KeyedSemaphore {
  /** Only keys with running or waiting callers take memory. */
  readonly #byKey = new Map<string, BoundedSemaphore>();

  constructor(
    readonly limits: Readonly<SemaphoreLimits>,
    private readonly clock: Clock,
  ) {}

  /** The sum over all keys. */
  count(): SemaphoreCounts {
    const sum = { running: 0, waiting: 0 };
    for (const semaphore of this.#byKey.values()) {
      const { running, waiting } = semaphore.count();
      sum.running += running;
      sum.waiting += waiting;
    }
    return sum;
  }

  /** Resolves to the function that releases the permit; null when there was none in time. Never rejects. */
  async acquire(key: string): Promise<Release | null> {
    const semaphore = this.#byKey.get(key) ?? new BoundedSemaphore(this.limits, this.clock);
    this.#byKey.set(key, semaphore);
    const release = await semaphore.acquire();
    if (release === null) return null;
    return () => {
      release();
      const { running, waiting } = semaphore.count();
      if (running + waiting === 0 && this.#byKey.get(key) === semaphore) this.#byKey.delete(key);
    };
  }
}
