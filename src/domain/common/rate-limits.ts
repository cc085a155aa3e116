/** How often something may be asked for within a window of time, whoever counts it. */

/**
 * What is counted. `user-mutations` and `address-mutations`: root fields of mutations, by the person and by where they
 * come from. `address-visits`: pages that nobody need be known for, such as signing in. `address-failures`: tokens,
 * links and passes that turned out to be no good.
 */
export const RATE_LIMITS = [
  "user-mutations",
  "address-mutations",
  "address-visits",
  "address-failures",
] as const;
export type RateLimit = (typeof RATE_LIMITS)[number];

/** The length of each window. It begins with the first use in it, and what was used before is forgotten at its end. */
export const RATE_WINDOW_MS = 60_000;

export interface RateLimits {
  /**
   * Counts `uses` of this limit for whoever has this key. Null: go on; else the milliseconds after which it is worth to
   * come back. With 0 uses nothing is counted: whether the limit is exceeded already. Never rejects.
   */
  take(limit: RateLimit, key: string, uses: number): Promise<number | null>;
}

/** Everybody may ask for everything. */
export const NO_RATE_LIMITS: RateLimits = { take: async () => null };
