/** How long to wait before another try. Pure. */

export type RetryDelays = {
  /** Upper bound of the first wait. */
  firstMs: number;
  /** Upper bound of every wait. */
  mostMs: number;
};

/** Quick enough after a short break, slow enough that a thousand clients of a restarted server are no storm. */
export const DEFAULT_RETRY_DELAYS: RetryDelays = { firstMs: 1_000, mostMs: 30_000 };

/**
 * Full jitter: anything from nothing to a bound that doubles with each try. `attempt` counts from 1, `random` gives
 * numbers from 0 to below 1.
 */
export function retryDelayMs(attempt: number, delays: RetryDelays, random: () => number): number {
  const bound = Math.min(delays.mostMs, delays.firstMs * 2 ** (attempt - 1));
  return Math.floor(random() * bound);
}
