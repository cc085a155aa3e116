/** How long one exchange with a tool server may take, by our own clock; whoever asked may end it before. */
import type { Clock } from "../lib/clock.js";

/** For the library's own limits, which it measures by the machine's clock: they never come first. */
export const UNTIMED_MS = 2 ** 31 - 1;

export type Limits = {
  /** Without any sign of life. */
  silenceMs: number;
  /** However lively it is; without it the silence is all that counts. */
  totalMs?: number;
};

/** `error` is what the exchange ends with. */
export type DeadlineParts = { clock: Clock; limits: Limits; signal?: AbortSignal; error: () => Error };

export class Deadline {
  readonly #ending = new AbortController();
  readonly #parts: DeadlineParts;
  readonly #cancelTotal: () => void;
  #cancelSilence: () => void;

  constructor(parts: DeadlineParts) {
    this.#parts = parts;
    const { totalMs } = parts.limits;
    this.#cancelSilence = this.#wait(parts.limits.silenceMs);
    this.#cancelTotal = totalMs === undefined ? () => undefined : this.#wait(totalMs);
    if (parts.signal?.aborted) this.#leave();
    else parts.signal?.addEventListener("abort", this.#leave, { once: true });
  }

  /** Aborted when the time is over, or whoever asked has left. Never after `done`. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** A sign of life: the silence begins anew. */
  extend(): void {
    this.#cancelSilence();
    if (!this.signal.aborted) this.#cancelSilence = this.#wait(this.#parts.limits.silenceMs);
  }

  /** The exchange is over; rejects with the deadline's reason if it came first, else as the exchange does. */
  async bound<Answer>(exchange: Promise<Answer>): Promise<Answer> {
    try {
      return await Promise.race([exchange, this.#end()]);
    } catch (error) {
      throw this.signal.aborted ? this.signal.reason : error;
    } finally {
      this.#cancelSilence();
      this.#cancelTotal();
      this.#parts.signal?.removeEventListener("abort", this.#leave);
    }
  }

  #end(): Promise<never> {
    return new Promise((_, reject) => {
      const say = () => reject(this.signal.reason as Error);
      if (this.signal.aborted) say();
      else this.signal.addEventListener("abort", say, { once: true });
    });
  }

  #wait(ms: number): () => void {
    return this.#parts.clock.after(ms, () => this.#ending.abort(this.#parts.error()));
  }

  readonly #leave = (): void => {
    const reason: unknown = this.#parts.signal?.reason;
    this.#ending.abort(reason instanceof Error ? reason : new Error("It was stopped."));
  };
}
