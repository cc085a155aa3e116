/**
 * A task that is kept running: each attempt that ends is followed by another after a delay with exponential back-off and
 * jitter. States: attempting → waiting → attempting …; it ends after too many failures in a row, or by `close`.
 */
import { sleep, type Clock } from "../clock.js";
import { runDetached } from "../run-context.js";

/** How an attempt ended. `wasHealthy`: it worked for a while, so that the back-off starts over. */
export type AttemptEnd = { wasHealthy: boolean; reason: unknown };

export type SupervisedTaskOptions = {
  clock: Clock;
  /** In [0, 1): each delay is multiplied by 1 + its result. */
  random(): number;
  firstDelayMs: number;
  /** The delay doubles up to this. */
  maxDelayMs: number;
  /** Failed attempts in a row after which the task ends; unlimited when absent. */
  maxFailures?: number;
  /** One attempt. Never rejects, and resolves soon after `signal` is aborted. */
  attempt(signal: AbortSignal): Promise<AttemptEnd>;
  /** An attempt ended and another follows after `delayMs`, plus jitter. */
  onRetry(reason: unknown, delayMs: number): void;
  /** The last of `maxFailures` attempts failed: the task ends. */
  onGiveUp?(reason: unknown): void;
};

export class SupervisedTask {
  /** Resolves when no attempt runs any more and none follows. Never rejects. */
  readonly ended: Promise<void>;
  readonly #closing = new AbortController();
  #wake: () => void = () => undefined;

  /** Begins the first attempt at once. */
  constructor(private readonly options: SupervisedTaskOptions) {
    this.ended = runDetached(() => this.#run());
  }

  /** Ends the current delay, if there is one. */
  retryNow(): void {
    this.#wake();
  }

  /** Ends the current attempt or delay; `ended` tells when that is done. */
  close(): void {
    this.#closing.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { random, firstDelayMs, maxDelayMs, maxFailures = Infinity } = this.options;
    const { signal } = this.#closing;
    let delayMs = firstDelayMs;
    let failures = 0;
    for (;;) {
      const { wasHealthy, reason } = await this.options.attempt(signal);
      if (signal.aborted) return;
      failures = wasHealthy ? 0 : failures + 1;
      if (failures >= maxFailures) return this.options.onGiveUp?.(reason);
      if (wasHealthy) delayMs = firstDelayMs;
      this.options.onRetry(reason, delayMs);
      await this.#delay(delayMs * (1 + random()));
      if (signal.aborted) return;
      delayMs = Math.min(delayMs * 2, maxDelayMs);
    }
  }

  async #delay(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await sleep(this.options.clock, ms, woken.signal);
    this.#wake = () => undefined;
  }
}
