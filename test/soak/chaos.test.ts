// Small soak with network faults: real servers that are killed, behind proxies that cut connections and lose, duplicate,
// delay or reorder Redis messages. Full form: `npm run soak -- --redis=1 --chaos=30 --cuts=300 --strikes=kill
// --redis-stops=2`.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ConnectionOptions } from "../../src/store/data-source.js";
import { createTestEnvironment, type TestEnvironment } from "../support/parley.js";
import { hasRedis } from "../support/network/redis.js";
import { scaled } from "../support/scale.js";
import { Tally } from "./chance.js";
import { openProcesses } from "./processes.js";
import { runSoak } from "./soak.js";
import { Vendor } from "./vendor.js";

const SEED = Number(process.env["SOAK_SEED"] ?? 1);
const CHATS = scaled(60);
const TURNS = 3;
/** Shorter than in the full soak, to keep the test short. */
const REDIS_ABSENCE_MS = 2_000;

describe.skipIf(!hasRedis)("with a Redis", () => {
  let environment: TestEnvironment;
  beforeAll(async () => {
    environment = await createTestEnvironment();
  });
  afterAll(() => environment.remove());

  test(`network faults leave every chat intact and all observers with the same view (seed ${SEED})`, async () => {
    const tally = new Tally();
    const vendor = new Vendor(SEED, tally, 18);
    const deployment = await openProcesses({
      servers: 2,
      database: urlOf(environment.database.options),
      withRedis: true,
      isRedisStruck: false,
      redisAbsenceMs: REDIS_ABSENCE_MS,
      strikes: "kill",
      networkFaults: { seed: SEED, chaos: 30, cuts: 200 },
      tally,
      answer: (request) => vendor.answer(request),
    });
    const settings = { seed: SEED, chats: CHATS, turns: TURNS, users: CHATS, redisStops: 1 };
    const pace = { meanPeaceMs: 1_500, patienceMs: 4_000, report: () => undefined };
    const violations = await runSoak(deployment, { vendor, tally }, { ...settings, ...pace });
    const left = await deployment.close();
    if (process.env["SOAK_TELL"]) process.stdout.write(`${tally.lines().join("\n")}\n`);
    expect({ violations, left }).toEqual({ violations: [], left: [] });
    // A soak without faults proves nothing.
    const happened = ["Redis messages", "connections cut", "strikes", "Redis stops", "events applied"];
    expect(happened.filter((group) => tally.count(group) === 0)).toEqual([]);
  });
});

function urlOf({ url, host, port, user, database }: ConnectionOptions): string {
  return url ?? `postgres://${user}@${encodeURIComponent(host ?? "localhost")}:${port ?? 5432}/${database}`;
}
