/** Delay before a reconnect. Pure. */

export type RetryDelays = {
  /** Upper bound of the first delay. */
  firstMs: number;
  /** Upper bound of every delay. */
  mostMs: number;
};

/** Fast after a short interruption, yet slow enough that a thousand clients do not overload a restarted server. */
export const DEFAULT_RETRY_DELAYS: RetryDelays = { firstMs: 1_000, mostMs: 30_000 };

/**
 * Full jitter: a random delay below a bound that doubles with each attempt. `attempt` counts from 1, `random` returns
 * numbers from 0 to below 1.
 */
export function retryDelayMs(attempt: number, delays: RetryDelays, random: () => number): number {
  const bound = Math.min(delays.mostMs, delays.firstMs * 2 ** (attempt - 1));
  return Math.floor(random() * bound);
}
