/** Deadline of one exchange with an MCP server, by the injected clock; can be aborted by the caller. */
import type { Clock } from "../lib/clock.js";

/** Disables the library's own timeouts, which use the machine's clock. */
export const UNTIMED_MS = 2 ** 31 - 1;

export type Limits = {
  /** The longest without a sign of life. */
  silenceMs: number;
  /** The longest altogether; unlimited when absent. */
  totalMs?: number;
};

/** `error` creates the error of an exceeded deadline. */
export type DeadlineOptions = { clock: Clock; limits: Limits; signal?: AbortSignal; error: () => Error };

export class Deadline {
  readonly #ending = new AbortController();
  readonly #options: DeadlineOptions;
  readonly #cancelTotal: () => void;
  #cancelSilence: () => void;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    const { totalMs, silenceMs } = options.limits;
    this.#cancelSilence = this.#startTimer(silenceMs);
    this.#cancelTotal = totalMs === undefined ? () => undefined : this.#startTimer(totalMs);
    if (options.signal?.aborted) this.#abort();
    else options.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  /** Aborted when the deadline has passed or the caller's signal is aborted. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Restarts the timer of silence after a sign of life. */
  extend(): void {
    this.#cancelSilence();
    if (!this.signal.aborted) this.#cancelSilence = this.#startTimer(this.#options.limits.silenceMs);
  }

  /** Settles as the exchange, or rejects with the deadline's reason when that comes first; stops the timers. */
  async bound<Result>(exchange: Promise<Result>): Promise<Result> {
    try {
      return await Promise.race([exchange, this.#end()]);
    } catch (error) {
      throw this.signal.aborted ? this.signal.reason : error;
    } finally {
      this.#cancelSilence();
      this.#cancelTotal();
      this.#options.signal?.removeEventListener("abort", this.#abort);
    }
  }

  #end(): Promise<never> {
    return new Promise((_, reject) => {
      const rejectWithReason = () => reject(this.signal.reason as Error);
      if (this.signal.aborted) rejectWithReason();
      else this.signal.addEventListener("abort", rejectWithReason, { once: true });
    });
  }

  #startTimer(ms: number): () => void {
    return this.#options.clock.after(ms, () => this.#ending.abort(this.#options.error()));
  }

  readonly #abort = (): void => {
    const reason: unknown = this.#options.signal?.reason;
    this.#ending.abort(reason instanceof Error ? reason : new Error("It was stopped."));
  };
}
