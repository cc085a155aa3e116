// System clock that a test can move forward; timers that are due by then fire at once.
import { systemClock, type Clock } from "../../src/lib/clock.js";

export class ShiftingClock implements Clock {
  #offsetMs = 0;
  readonly #waiting = new Set<{ dueAt: number; ring(): void }>();

  now(): number {
    return systemClock.now() + this.#offsetMs;
  }

  after(ms: number, callback: () => void): () => void {
    let cancel = () => {};
    const waiter = {
      dueAt: this.now() + ms,
      ring: () => {
        cancelAll();
        callback();
      },
    };
    const cancelAll = () => {
      cancel();
      this.#waiting.delete(waiter);
    };
    this.#waiting.add(waiter);
    cancel = systemClock.after(ms, waiter.ring);
    return cancelAll;
  }

  every(ms: number, callback: () => void): () => void {
    let cancel = () => {};
    const next = () => {
      cancel = this.after(ms, () => {
        next();
        callback();
      });
    };
    next();
    return () => cancel();
  }

  /** Moves the clock forward. */
  shift(ms: number): void {
    this.#offsetMs += ms;
    const due = [...this.#waiting].filter(({ dueAt }) => dueAt <= this.now());
    for (const { ring } of due) ring();
  }
}
