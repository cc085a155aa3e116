/** Composition of rate limits: counted in this process, or in Redis for all servers together. */
import type { Config } from "../config/config.js";
import { NO_RATE_LIMITS, type RateLimits } from "../domain/common/rate-limits.js";
import type { RateLimitMeter } from "../domain/common/meters.js";
import { readAddresses } from "../http/common/client-address.js";
import { createRateGate, type RateGate } from "../http/common/rate-gate.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import {
  type RateLimitSizes,
  type ScriptRunner,
  WindowLimits,
} from "../adapters/rate-limits/window-limits.js";
import type { Closers } from "./closers.js";

type RateGateDependencies = { config: Config; clock: Clock; log: Log; meter: RateLimitMeter };

/** One gate for all endpoints of this process. */
export async function openRateGate(dependencies: RateGateDependencies, closers: Closers): Promise<RateGate> {
  return createRateGate(
    await openLimits(dependencies, closers),
    readAddresses(dependencies.config.trustedProxies),
  );
}

async function openLimits(dependencies: RateGateDependencies, closers: Closers): Promise<RateLimits> {
  const { config, log, meter } = dependencies;
  const sizes: RateLimitSizes = {
    "user-mutations": config.rateLimitUserMutations,
    "address-mutations": config.rateLimitAddressMutations,
    "address-visits": config.rateLimitAddressVisits,
    "address-failures": config.rateLimitAddressFailures,
  };
  const isNeeded =
    config.rateLimits && config.role !== "worker" && Object.values(sizes).some((size) => size > 0);
  if (!isNeeded) return NO_RATE_LIMITS;
  const redis =
    config.redisUrl === undefined ? null : await openScripts(config.redisUrl, dependencies, closers);
  return new WindowLimits({ sizes, redis, log, onRefusal: (limit) => meter.rateLimited(limit) });
}

async function openScripts(
  url: string,
  { clock, log }: RateGateDependencies,
  closers: Closers,
): Promise<ScriptRunner> {
  const { RedisScripts } = await import("../events/bus/redis-scripts.js");
  const meanwhile = "each server counts requests on its own until Redis answers";
  const scripts = new RedisScripts({ url, log, clock, meanwhile });
  closers.add("the rate limits in Redis", () => scripts.close());
  return scripts;
}
