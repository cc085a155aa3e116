/** Counting semaphore with a bounded FIFO queue. Refuses when the queue is full or the wait times out. */
import type { Clock } from "../clock.js";

export type SemaphoreLimits = {
  /** Permits that may be held at one time. */
  maxRunning: number;
  /** Callers that may wait for a permit; more are refused at once. */
  maxWaiting: number;
  waitMs: number;
};

export type SemaphoreCounts = { running: number; waiting: number };

/** Returns the permit; a second call does nothing. */
export type Release = () => void;

type Waiter = { settle(release: Release | null): void };

export class BoundedSemaphore {
  readonly #waiting = new Set<Waiter>();
  #running = 0;
  #isClosed = false;

  constructor(
    private readonly limits: SemaphoreLimits,
    private readonly clock: Clock,
  ) {}

  count(): SemaphoreCounts {
    return { running: this.#running, waiting: this.#waiting.size };
  }

  /** Resolves to the function that releases the permit; null when there was none in time. Never rejects. */
  acquire(): Promise<Release | null> {
    if (this.#isClosed) return Promise.resolve(null);
    if (this.#running < this.limits.maxRunning) return Promise.resolve(this.#grant());
    if (this.#waiting.size >= this.limits.maxWaiting) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        settle: (release) => {
          this.#waiting.delete(waiter);
          cancel();
          resolve(release);
        },
      };
      const cancel = this.clock.after(this.limits.waitMs, () => waiter.settle(null));
      this.#waiting.add(waiter);
    });
  }

  /** Refuses those who wait and every later caller; permits that are held stay valid. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiting) waiter.settle(null);
  }

  #grant(): Release {
    this.#running += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#running -= 1;
      const [next] = this.#waiting;
      next?.settle(this.#grant());
    };
  }
}
