/**
 * Fixed-window rate limits of users and addresses, counted for all servers of a deployment in Redis, or for this one in
 * memory. While Redis is unavailable each server counts by itself, starting from zero: the deployment's limits are then
 * multiplied by its number of servers, and no request is refused because of Redis.
 */
import { RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from "rate-limiter-flexible";
import {
  type RateLimit,
  RATE_LIMITS,
  type RateLimits,
  RATE_WINDOW_MS,
} from "../../domain/common/rate-limits.js";
import type { Log } from "../../lib/log.js";
import { BoundedMemory } from "./bounded-memory.js";

/** Runs scripts in Redis. Rejects soon when Redis does not answer. */
export type ScriptRunner = {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
};

/** Uses in each window; 0 = no limit. */
export type RateLimitSizes = Readonly<Record<RateLimit, number>>;

export type WindowLimitsOptions = {
  sizes: RateLimitSizes;
  /** Null = count in memory. */
  redis: ScriptRunner | null;
  log: Log;
  /** Called for every refused request. */
  onRefusal?: (limit: RateLimit) => void;
};

export class WindowLimits implements RateLimits {
  readonly #limiters: ReadonlyMap<RateLimit, RateLimiterAbstract>;
  readonly #log: Log;
  readonly #onRefusal: (limit: RateLimit) => void;

  constructor({ sizes, redis, log, onRefusal = () => undefined }: WindowLimitsOptions) {
    this.#log = log;
    this.#onRefusal = onRefusal;
    this.#limiters = new Map(
      RATE_LIMITS.filter((limit) => sizes[limit] > 0).map((limit) => [
        limit,
        createLimiter(limit, sizes[limit], redis),
      ]),
    );
  }

  async take(limit: RateLimit, key: string, uses: number): Promise<number | null> {
    const limiter = this.#limiters.get(limit);
    if (limiter === undefined) return null;
    try {
      await limiter.consume(key, uses);
      return null;
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return this.#refuse({ limit, key, uses, limiter }, refusal);
      this.#log.error({ err: refusal, limit }, "rate limit could not be checked; request allowed");
      return null;
    }
  }

  #refuse(refused: RefusedUse, { consumedPoints, msBeforeNext }: RateLimiterRes): number {
    const { limit, key, uses, limiter } = refused;
    this.#onRefusal(limit);
    // Once per key and window: at the use that first exceeded the limit.
    if (uses > 0 && consumedPoints - uses <= limiter.points)
      this.#log.warn({ limit, key, most: limiter.points }, "rate limit exceeded; requests refused");
    // Redis returns -1 for a key whose expiration is not set yet.
    return msBeforeNext > 0 ? msBeforeNext : RATE_WINDOW_MS;
  }
}

type RefusedUse = { limit: RateLimit; key: string; uses: number; limiter: RateLimiterAbstract };

function createLimiter(limit: RateLimit, points: number, redis: ScriptRunner | null): RateLimiterAbstract {
  const options = { keyPrefix: `parley:rate:${limit}`, points, duration: RATE_WINDOW_MS / 1_000 };
  const memory = new BoundedMemory(options);
  if (redis === null) return memory;
  return new RateLimiterRedis({
    ...options,
    storeClient: redis,
    // Scripts are run with the argument format of the `redis` package.
    useRedisPackage: true,
    insuranceLimiter: memory,
  });
}
