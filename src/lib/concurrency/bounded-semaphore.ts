/**
 * Lets a bounded number in at one time, the others in the order in which they came. Who comes when too many wait, or
 * waits for too long, is sent away.
 */
import type { Clock } from "../clock.js";

export type TurnstileBounds = { inside: number; waiting: number; waitMs: number };

/** Gives the place back; a second call does nothing. */
export type Leave = () => void;

type Waiter = { settle(leave: Leave | null): void };

export class Turnstile {
  readonly #waiting = new Set<Waiter>();
  #inside = 0;
  #isClosed = false;

  constructor(
    private readonly bounds: TurnstileBounds,
    private readonly clock: Clock,
  ) {}

  /** Who is inside now, and who waits. */
  count(): { inside: number; waiting: number } {
    return { inside: this.#inside, waiting: this.#waiting.size };
  }

  /** Resolves inside, to the way out; null when there is no place in time. */
  enter(): Promise<Leave | null> {
    if (this.#isClosed) return Promise.resolve(null);
    if (this.#inside < this.bounds.inside) return Promise.resolve(this.#admit());
    if (this.#waiting.size >= this.bounds.waiting) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        settle: (leave) => {
          this.#waiting.delete(waiter);
          cancel();
          resolve(leave);
        },
      };
      const cancel = this.clock.after(this.bounds.waitMs, () => waiter.settle(null));
      this.#waiting.add(waiter);
    });
  }

  /** Sends away who waits and whoever comes; who is inside may end. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiting) waiter.settle(null);
  }

  #admit(): Leave {
    this.#inside += 1;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#inside -= 1;
      const [next] = this.#waiting;
      next?.settle(this.#admit());
    };
  }
}
