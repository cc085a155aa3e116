/**
 * Counts what people and addresses ask for, for all servers of a deployment together in Redis, or for this one in its
 * memory. While Redis is away each server counts for itself, from nothing: for that long a deployment lets in as many
 * times more as it has servers, and nobody is turned away for Redis' sake.
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

/** What Redis is asked through. Rejects at once, or soon, when Redis does not answer. */
export type ScriptRunner = {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
};

/** Uses in each window; 0 = no limit. */
export type RateLimitSizes = Readonly<Record<RateLimit, number>>;

export type WindowLimitsOptions = {
  sizes: RateLimitSizes;
  /** Null: there is no Redis. */
  redis: ScriptRunner | null;
  log: Log;
  /** Somebody was turned away. */
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
      this.#log.error({ err: refusal, limit }, "A limit could not be looked at; nobody is turned away by it");
      return null;
    }
  }

  #refuse(taken: Taking, { consumedPoints, msBeforeNext }: RateLimiterRes): number {
    const { limit, key, uses, limiter } = taken;
    this.#onRefusal(limit);
    // Once for each key and window: with the use that went beyond it.
    if (uses > 0 && consumedPoints - uses <= limiter.points)
      this.#log.warn({ limit, key, most: limiter.points }, "Somebody asks too often and is turned away");
    // Redis says -1 for a key whose end is not set yet.
    return msBeforeNext > 0 ? msBeforeNext : RATE_WINDOW_MS;
  }
}

type Taking = { limit: RateLimit; key: string; uses: number; limiter: RateLimiterAbstract };

function createLimiter(limit: RateLimit, points: number, redis: ScriptRunner | null): RateLimiterAbstract {
  const options = { keyPrefix: `parley:rate:${limit}`, points, duration: RATE_WINDOW_MS / 1_000 };
  const memory = new BoundedMemory(options);
  if (redis === null) return memory;
  return new RateLimiterRedis({
    ...options,
    storeClient: redis,
    // The form in which the client of this name is asked to run a script.
    useRedisPackage: true,
    insuranceLimiter: memory,
  });
}
