// A clock whose waits end when the test says so: a model that speaks by it says its next words on demand.
import type { Clock } from "../../src/lib/clock.js";

export class GatedClock implements Clock {
  readonly #waiting = new Set<() => void>();
  #tickets = 0;
  #isOpen = false;

  /** The machine's: what the model says of the time is nobody's concern here. */
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

  /** Ends so many waits, of those that wait now and those to come. */
  let(count: number): void {
    this.#tickets += count;
    for (const callback of [...this.#waiting].slice(0, count)) {
      this.#waiting.delete(callback);
      this.#tickets -= 1;
      callback();
    }
  }

  /** From now on nothing waits. */
  open(): void {
    this.#isOpen = true;
    for (const callback of [...this.#waiting]) {
      this.#waiting.delete(callback);
      callback();
    }
  }
}
