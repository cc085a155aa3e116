/**
 * Runs a job at an interval, never two runs at once: a tick during a run is skipped.
 * States: new → running (`start`) → stopped (`stop`) → closed (`close`).
 */
import type { Clock } from "../clock.js";

export type PeriodicJobOptions = {
  clock: Clock;
  intervalMs: number;
  /** One run. Long ones check `isClosing` between two steps. */
  run(): Promise<unknown>;
  /** Called when a run rejects; the next one still comes at its time. */
  onError(error: unknown): void;
};

export class PeriodicJob {
  #cancel: (() => void) | null = null;
  #running: Promise<void> | null = null;
  #isClosing = false;

  constructor(private readonly options: PeriodicJobOptions) {}

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** `immediately`: the first run does not wait for the first tick. */
  start({ immediately }: { immediately: boolean }): void {
    const { clock, intervalMs } = this.options;
    this.#cancel = clock.every(intervalMs, () => this.#begin());
    if (immediately) this.#begin();
  }

  /** No further run begins; the current one goes on. */
  stop(): void {
    this.#cancel?.();
  }

  /** Stops, and resolves when the current run has ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.stop();
    await this.#running;
  }

  #begin(): void {
    if (this.#running || this.#isClosing) return;
    const { run, onError } = this.options;
    this.#running = run()
      .then(() => undefined)
      .catch(onError)
      .finally(() => (this.#running = null));
  }
}
