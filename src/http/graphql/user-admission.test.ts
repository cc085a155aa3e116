import { GraphQLError } from "graphql";
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../../test/http/support.js";
import { CpuBudgets } from "./cpu-budgets.js";
import { type WorkPermit, UserAdmission } from "./user-admission.js";

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
  return { clock, cpu, budgets, admission: new UserAdmission(all, clock, budgets) };
}

async function permitOf(admission: UserAdmission, userId: string): Promise<WorkPermit> {
  const permit = await admission.acquire(userId);
  if (permit instanceof GraphQLError) throw permit;
  return permit;
}

describe("concurrent operations", () => {
  test("a user's operations only wait for each other, not for those of other users", async () => {
    const { admission } = setUp();
    const [first] = [await permitOf(admission, "a"), await permitOf(admission, "a")];
    const third = permitOf(admission, "a");
    const refused = await admission.acquire("a");
    expect(refused).toMatchObject({ extensions: { code: "RATE_LIMITED", retryAfterMs: 1_000 } });
    await permitOf(admission, "b");
    expect(admission.count()).toEqual({ running: 3, waiting: 1 });
    first?.release();
    first?.release();
    await third;
    expect(admission.count()).toEqual({ running: 3, waiting: 0 });
  });

  test("a wait that takes too long ends with a refusal, and nothing is retained of users without operations", async () => {
    const { admission, clock } = setUp();
    const permits = [await permitOf(admission, "a"), await permitOf(admission, "a")];
    const third = admission.acquire("a");
    clock.advance(1_000);
    expect(await third).toMatchObject({ extensions: { code: "RATE_LIMITED" } });
    for (const permit of permits) permit.release();
    expect({ ...admission.count(), timers: clock.pending() }).toEqual({ running: 0, waiting: 0, timers: 0 });
  });
});

test("mutations have a lower limit of their own", async () => {
  const { admission, clock } = setUp();
  const [first, second, other] = [
    await permitOf(admission, "a"),
    await permitOf(admission, "a"),
    await permitOf(admission, "b"),
  ];
  expect(await first.acquireMutation()).toBeUndefined();
  expect(await other.acquireMutation()).toBeUndefined();
  const late = second.acquireMutation();
  clock.advance(1_000);
  expect(await late).toMatchObject({ extensions: { code: "RATE_LIMITED" } });
  const inTime = second.acquireMutation();
  first.release();
  expect(await inTime).toBeUndefined();
  second.release();
  other.release();
  expect({ ...admission.count(), timers: clock.pending() }).toEqual({ running: 0, waiting: 0, timers: 0 });
});

describe("the CPU budget", () => {
  const spend = async (admission: UserAdmission, cpu: { usedMs: number }, ms: number, cost = 10_000) => {
    const permit = await permitOf(admission, "a");
    permit.start(cost);
    cpu.usedMs += ms;
    permit.release();
  };

  test("a user who has spent it is refused until it recovers; others are not", async () => {
    const { admission, clock, cpu } = setUp();
    await spend(admission, cpu, 499);
    await spend(admission, cpu, 101);
    expect(await admission.acquire("a")).toMatchObject({
      extensions: { code: "RATE_LIMITED", retryAfterMs: 1_010 },
    });
    await permitOf(admission, "b");
    clock.advance(1_010);
    await permitOf(admission, "a");
  });

  test("an operation that was waiting while it was spent is refused too", async () => {
    const { admission, cpu } = setUp({ maxRunningPerUser: 1 });
    const permit = await permitOf(admission, "a");
    permit.start(10_000);
    const second = admission.acquire("a");
    cpu.usedMs += 600;
    permit.release();
    expect(await second).toMatchObject({ extensions: { code: "RATE_LIMITED" } });
    expect(admission.count()).toEqual({ running: 0, waiting: 0 });
  });

  test("CPU time is divided among running operations, and no user is charged beyond what the operation's cost makes likely", () => {
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

  test("0 disables the budget", async () => {
    const { admission, cpu } = setUp({ userCpuMsPerSecond: 0 });
    await spend(admission, cpu, 1_000_000);
    await permitOf(admission, "a");
  });
});
