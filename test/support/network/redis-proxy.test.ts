import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomNumbers } from "../random.js";
import { hasRedis, startRedis, type TestRedis } from "./redis.js";
import { type Fate, startRedisProxy } from "./redis-proxy.js";
import { eventually } from "../eventually.js";

const PUBLISHED = 1_000;

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await startRedis();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** Publishes numbers to a client behind a proxy, which asks for echoes meanwhile. */
async function listen(percent: number) {
  const fates: Record<Fate, number> = { passed: 0, dropped: 0, duplicated: 0, delayed: 0, reordered: 0 };
  const broken: unknown[] = [];
  const proxy = await startRedisProxy({
    port: Number(new URL(redis.url).port),
    percent,
    chanceOf: (connection) => randomNumbers(7 + connection),
    count: (fate) => void (fates[fate] += 1),
    broken: (error) => void broken.push(error),
  });
  const reader = createClient({ url: `redis://127.0.0.1:${proxy.port}` }).on("error", () => undefined);
  const writer = createClient({ url: redis.url });
  await Promise.all([reader.connect(), writer.connect()]);
  const heard: number[] = [];
  await reader.sSubscribe("topic", (text) => void heard.push(Number(text)));
  const echoes: string[] = [];
  for (let number = 0; number < PUBLISHED; number += 1) {
    const echo = reader.echo(`${number}`);
    await writer.sPublish("topic", `${number}`);
    echoes.push(await echo);
  }
  const expected = fates.passed + 2 * fates.duplicated + fates.delayed + fates.reordered;
  await eventually(() => expect(heard.length).toBe(expected));
  await Promise.all([reader.close(), writer.close()]);
  await proxy.close();
  return { heard, fates, broken, echoes };
}

const NUMBERS = Array.from({ length: PUBLISHED }, (_, number) => number);

describe.skipIf(!hasRedis)("between a client and a Redis", () => {
  test("drops, duplicates, delays or reorders about 30 % of messages, and passes replies unchanged", async () => {
    const { heard, fates, broken, echoes } = await listen(30);
    const { passed, ...harms } = fates;
    const rest = heard.filter((number, index) => heard.indexOf(number) === index);
    expect({ echoes, broken, lost: PUBLISHED - rest.length, twice: heard.length - rest.length }).toEqual({
      echoes: NUMBERS.map(String),
      broken: [],
      lost: fates.dropped,
      twice: fates.duplicated,
    });
    expect(heard).not.toEqual([...heard].sort((a, b) => a - b));
    expect(passed / PUBLISHED).toBeCloseTo(0.7, 1);
    for (const harm of Object.values(harms)) expect(harm / PUBLISHED).toBeCloseTo(0.075, 1);
  });

  test("without disturbance everything passes in order", async () => {
    const { heard, fates } = await listen(0);
    expect({ heard, passed: fates.passed }).toEqual({ heard: NUMBERS, passed: PUBLISHED });
  });
});
