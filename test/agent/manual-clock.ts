// A clock that only advances when a test advances it.
import type { Clock } from "../../src/lib/clock.js";

type Timer = { dueMs: number; periodMs: number | undefined; callback: () => void };

export class ManualClock implements Clock {
  #nowMs = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<Timer>();
  readonly #watchers = new Set<{ delayMs: number; resolve: () => void }>();

  now(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    return this.#add(delayMs, undefined, callback);
  }

  every(periodMs: number, callback: () => void): () => void {
    return this.#add(periodMs, periodMs, callback);
  }

  /** Resolves when the next timer is set after exactly `delayMs`. */
  nextTimer(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#watchers.add({ delayMs, resolve }));
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.dueMs - b.dueMs)) {
      if (timer.dueMs > this.#nowMs || !this.#timers.has(timer)) continue;
      if (timer.periodMs === undefined) this.#timers.delete(timer);
      else timer.dueMs += timer.periodMs;
      timer.callback();
    }
  }

  #add(delayMs: number, periodMs: number | undefined, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, periodMs, callback };
    this.#timers.add(timer);
    for (const watcher of this.#watchers) {
      if (watcher.delayMs !== delayMs) continue;
      this.#watchers.delete(watcher);
      watcher.resolve();
    }
    return () => this.#timers.delete(timer);
  }
}
