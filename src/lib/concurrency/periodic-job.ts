/**
 * Work that is done again and again: one round at a time, the next one when the clock says so and the last one is over.
 * States: new → going (`start`) → resting (`rest`) → closed (`close`).
 */
import type { Clock } from "../clock.js";

export type RoundsOptions = {
  clock: Clock;
  everyMs: number;
  /** One round. Long ones look at `isClosing` between two steps. */
  round(): Promise<unknown>;
  /** A round has rejected; the next one comes in its time all the same. */
  failed(error: unknown): void;
};

export class Rounds {
  #stop: (() => void) | null = null;
  #running: Promise<void> | null = null;
  #isClosing = false;

  constructor(private readonly options: RoundsOptions) {}

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** `atOnce`: the first round does not wait for the clock. */
  start({ atOnce }: { atOnce: boolean }): void {
    const { clock, everyMs } = this.options;
    this.#stop = clock.every(everyMs, () => this.#begin());
    if (atOnce) this.#begin();
  }

  /** No round begins any more; one that is under way goes on. */
  rest(): void {
    this.#stop?.();
  }

  /** Resolves when the round that is under way is over. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.rest();
    await this.#running;
  }

  #begin(): void {
    if (this.#running || this.#isClosing) return;
    const { round, failed } = this.options;
    this.#running = round()
      .then(() => undefined)
      .catch(failed)
      .finally(() => (this.#running = null));
  }
}
