/** Rate limits per window, independent of where the counters live. */

/**
 * What is counted. `user-mutations` and `address-mutations`: root fields of mutations, by user and by client address.
 * `address-visits`: unauthenticated pages, such as sign-in. `address-failures`: invalid tokens, links and file passes.
 */
export const RATE_LIMITS = [
  "user-mutations",
  "address-mutations",
  "address-visits",
  "address-failures",
] as const;
export type RateLimit = (typeof RATE_LIMITS)[number];

/** Length of a window. A window begins with its first use; at its end the count resets. */
export const RATE_WINDOW_MS = 60_000;

export interface RateLimits {
  /**
   * Counts `uses` of the limit for this key. Null: within the limit; else milliseconds until a retry may succeed. With
   * 0 uses it only checks whether the limit is already exceeded. Never rejects.
   */
  take(limit: RateLimit, key: string, uses: number): Promise<number | null>;
}

/** Allows everything. */
export const NO_RATE_LIMITS: RateLimits = { take: async () => null };
