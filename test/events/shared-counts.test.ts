// Rate limits counted by several servers in a real Redis, and by each server alone while it is away.
import { pino } from "pino";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RATE_LIMITS } from "../../src/domain/common/rate-limits.js";
import { RedisScripts } from "../../src/events/bus/redis-scripts.js";
import { type RateLimitSizes, WindowLimits } from "../../src/adapters/rate-limits/window-limits.js";
import { ManualClock } from "../http/support.js";
import { eventually } from "../support/eventually.js";
import { createTestEnvironment, type TestEnvironment } from "../support/parley.js";
import { hasRedis, startRedis, type TestRedis } from "../support/network/redis.js";

describe.skipIf(!hasRedis)("with Redis", () => {
  let redis: TestRedis;
  beforeAll(async () => void (redis = await startRedis()));
  afterAll(() => redis.stop());

  const sizes = Object.fromEntries(RATE_LIMITS.map((limit) => [limit, 2])) as RateLimitSizes;

  function openReplica() {
    const lines: string[] = [];
    const clock = new ManualClock();
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
    const scripts = new RedisScripts({ url: redis.url, log, clock, meanwhile: "meanwhile" });
    const limits = new WindowLimits({ sizes, redis: scripts, log });
    const ping = async () => scripts.eval("return 1", { keys: [], arguments: [] });
    /** Resolves when Redis responds; advances the clock meanwhile. */
    const ready = async () => {
      while (
        await ping().then(
          () => false,
          () => true,
        )
      ) {
        clock.jump(2_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const wait = (key: string) => limits.take("user-mutations", key, 1);
    return { lines, clock, scripts, limits, ready, wait };
  }

  test("servers count together, separately while Redis is away, and together again; each transition is logged once", async () => {
    const [one, two] = [openReplica(), openReplica()];
    await Promise.all([one.ready(), two.ready()]);
    one.lines.length = 0;
    expect([await one.wait("ada"), await two.wait("ada")]).toEqual([null, null]);
    expect(await one.wait("ada")).toBeGreaterThan(0);
    expect(await two.limits.take("user-mutations", "ada", 0)).toBeGreaterThan(0);
    await redis.kill();
    const alone = [];
    for (let times = 0; times < 3; times += 1) alone.push(await one.wait("eve"));
    expect([alone.slice(0, 2), alone[2]]).toEqual([[null, null], expect.any(Number)]);
    expect(await two.wait("eve")).toBe(null);
    await redis.restart();
    await Promise.all([one.ready(), two.ready()]);
    expect([await one.wait("bob"), await two.wait("bob")]).toEqual([null, null]);
    expect(await two.wait("bob")).toBeGreaterThan(0);
    expect(one.lines.filter((line) => line.startsWith("Redis"))).toEqual([
      "Redis fails; meanwhile",
      "Redis recovered",
    ]);
    await Promise.all([one.scripts.close(), two.scripts.close()]);
  });

  test("an unresponsive Redis times out once, and then is not asked for a while", async () => {
    const replica = openReplica();
    await replica.ready();
    const client = await createClient({ url: redis.url }).connect();
    await client.sendCommand(["CLIENT", "PAUSE", "60000", "ALL"]);
    const waiting = replica.wait("ida");
    await new Promise((resolve) => setImmediate(resolve));
    replica.clock.advance(250);
    expect(await waiting).toBe(null);
    // The clock stands still here: a request to Redis would never time out.
    expect(await replica.wait("ida")).toBe(null);
    expect(await replica.wait("ida")).toBeGreaterThan(0);
    client.destroy();
    await redis.restart();
    await replica.scripts.close();
  });

  describe("complete servers", () => {
    let environment: TestEnvironment;
    beforeAll(async () => void (environment = await createTestEnvironment()));
    afterAll(() => environment.remove());

    test("a user who exceeded a limit at one replica is rejected by the other", async () => {
      const settings = {
        REDIS_URL: redis.url,
        PARLEY_RATE_LIMITS: "on",
        PARLEY_RATE_LIMIT_USER_MUTATIONS: "2",
      };
      const clocks = [new ManualClock(), new ManualClock()] as const;
      const [one, two] = await Promise.all([
        environment.start(settings, clocks[0]),
        environment.start(settings, clocks[1]),
      ]);
      const change = "mutation { updateUserPreferences(input: {}) { userErrors { code } } }";
      const client = await createClient({ url: redis.url }).connect();
      const counted = async () => new Set(await client.keys("parley:rate:user-mutations:*"));
      for (const [index, server] of [one, two].entries()) {
        const before = await counted();
        const prober = await server.addUser(`prober-${index}`);
        // Each server counts alone until it is connected to Redis, and retries after a while.
        await eventually(async () => {
          clocks[index]?.advance(2_000);
          await prober.ask(change);
          expect([...(await counted())].filter((key) => !before.has(key))).toHaveLength(1);
        });
      }
      client.destroy();
      const statuses = [];
      for (const server of [one, two, one, two]) statuses.push((await server.api.ask(change)).status);
      expect(statuses).toEqual([200, 200, 429, 429]);
    });
  });
});
