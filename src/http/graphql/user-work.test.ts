import { GraphQLError } from "graphql";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../test/http/support.js";
import { CpuBudgets } from "./cpu-budgets.js";
import { type Place, UserWork } from "./user-work.js";

const LIMITS = {
  maxRunningPerUser: 2,
  maxMutationsPerUser: 1,
  maxWaitingPerUser: 1,
  maxRunningWaitMs: 1_000,
  userCpuMsPerSecond: 100,
  userCpuBurstMs: 500,
};

function setUp(limits: Partial<typeof LIMITS> = {}) {
  const clock = new ManualClock();
  const cpu = { usedMs: 0 };
  const all = { ...LIMITS, ...limits };
  const budgets = new CpuBudgets(all, clock, () => cpu.usedMs);
  return { clock, cpu, budgets, work: new UserWork(all, clock, budgets) };
}

async function placeOf(work: UserWork, userId: string): Promise<Place> {
  const place = await work.enter(userId);
  if (place instanceof GraphQLError) throw place;
  return place;
}

describe("operations at one time", () => {
  test("a user's operations wait in line with each other, and with nobody else's", async () => {
    const { work } = setUp();
    const [first] = [await placeOf(work, "a"), await placeOf(work, "a")];
    const third = placeOf(work, "a");
    const refused = await work.enter("a");
    expect(refused).toMatchObject({ extensions: { code: "RATE_LIMITED", retryAfterMs: 1_000 } });
    await placeOf(work, "b");
    expect(work.count()).toEqual({ inside: 3, waiting: 1 });
    first?.leave();
    first?.leave();
    await third;
    expect(work.count()).toEqual({ inside: 3, waiting: 0 });
  });

  test("a wait that takes too long ends with a refusal, and nothing is kept of users who have gone", async () => {
    const { work, clock } = setUp();
    const places = [await placeOf(work, "a"), await placeOf(work, "a")];
    const third = work.enter("a");
    clock.advance(1_000);
    expect(await third).toMatchObject({ extensions: { code: "RATE_LIMITED" } });
    for (const place of places) place.leave();
    expect({ ...work.count(), timers: clock.pending() }).toEqual({ inside: 0, waiting: 0, timers: 0 });
  });
});

test("mutations have a line of their own within that", async () => {
  const { work, clock } = setUp();
  const [first, second, other] = [
    await placeOf(work, "a"),
    await placeOf(work, "a"),
    await placeOf(work, "b"),
  ];
  expect(await first.mutate()).toBeUndefined();
  expect(await other.mutate()).toBeUndefined();
  const late = second.mutate();
  clock.advance(1_000);
  expect(await late).toMatchObject({ extensions: { code: "RATE_LIMITED" } });
  const inTime = second.mutate();
  first.leave();
  expect(await inTime).toBeUndefined();
  second.leave();
  other.leave();
  expect({ ...work.count(), timers: clock.pending() }).toEqual({ inside: 0, waiting: 0, timers: 0 });
});

describe("the budget of CPU", () => {
  const spend = async (work: UserWork, cpu: { usedMs: number }, ms: number, cost = 10_000) => {
    const place = await placeOf(work, "a");
    place.run(cost);
    cpu.usedMs += ms;
    place.leave();
  };

  test("who has taken it all is refused until some of it is there again; others are not", async () => {
    const { work, clock, cpu } = setUp();
    await spend(work, cpu, 499);
    await spend(work, cpu, 101);
    expect(await work.enter("a")).toMatchObject({
      extensions: { code: "RATE_LIMITED", retryAfterMs: 1_010 },
    });
    await placeOf(work, "b");
    clock.advance(1_010);
    await placeOf(work, "a");
  });

  test("whoever waited in line while it was taken is refused too", async () => {
    const { work, cpu } = setUp({ maxRunningPerUser: 1 });
    const place = await placeOf(work, "a");
    place.run(10_000);
    const second = work.enter("a");
    cpu.usedMs += 600;
    place.leave();
    expect(await second).toMatchObject({ extensions: { code: "RATE_LIMITED" } });
    expect(work.count()).toEqual({ inside: 0, waiting: 0 });
  });

  test("the time is divided among those that run, and nobody is charged beyond what their operation's cost makes likely", () => {
    const { budgets, cpu } = setUp({ userCpuBurstMs: 100 });
    const [a, b, cheap] = [budgets.run("a", 10_000), budgets.run("b", 10_000), budgets.run("cheap", 1)];
    cpu.usedMs += 299;
    for (const end of [a, b, cheap]) end();
    expect([budgets.waitMs("a"), budgets.waitMs("b"), budgets.waitMs("cheap")]).toEqual([null, null, null]);
    budgets.charge("a", 0.5);
    budgets.charge("b", 0.3);
    budgets.charge("cheap", 90);
    expect([budgets.waitMs("a"), budgets.waitMs("b"), budgets.waitMs("cheap")]).toEqual([12, null, null]);
  });

  test("0 is no budget", async () => {
    const { work, cpu } = setUp({ userCpuMsPerSecond: 0 });
    await spend(work, cpu, 1_000_000);
    await placeOf(work, "a");
  });
});
