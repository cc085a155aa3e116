// Clock whose waits end when the test says so: a model that uses it streams on demand.
import type { Clock } from "../../src/lib/clock.js";

export class GatedClock implements Clock {
  readonly #waiting = new Set<() => void>();
  #tickets = 0;
  #isOpen = false;

  /** The system's time: no test depends on it. */
  now(): number {
    return Date.now();
  }

  after(_ms: number, callback: () => void): () => void {
    if (this.#isOpen || this.#tickets > 0) {
      if (!this.#isOpen) this.#tickets -= 1;
      const soon = setImmediate(callback);
      return () => clearImmediate(soon);
    }
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  every(): never {
    throw new Error("Nothing repeats by this clock.");
  }

  /** Ends that many waits, pending or future ones. */
  let(count: number): void {
    this.#tickets += count;
    for (const callback of [...this.#waiting].slice(0, count)) {
      this.#waiting.delete(callback);
      this.#tickets -= 1;
      callback();
    }
  }

  /** Ends all waits, pending and future ones. */
  open(): void {
    this.#isOpen = true;
    for (const callback of [...this.#waiting]) {
      this.#waiting.delete(callback);
      callback();
    }
  }
}
