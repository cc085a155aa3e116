import { expect, test } from "vitest";
import {
  effectiveLimit,
  maxCost,
  isReached,
  limitBusyFailure,
  type LimitPeriod,
  limitReachedFailure,
  type LimitStatus,
  periodAt,
  remainingMicros,
} from "./usage-limits.js";

const iso = (time: number) => new Date(time).toISOString().replace(".000Z", "Z");

test.each<[LimitPeriod, string, string, string]>([
  ["day", "2026-03-15T12:34:56.789Z", "2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z"],
  ["day", "2026-03-15T00:00:00.000Z", "2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z"],
  ["day", "2026-03-15T23:59:59.999Z", "2026-03-15T00:00:00Z", "2026-03-16T00:00:00Z"],
  ["day", "2028-02-28T10:00:00.000Z", "2028-02-28T00:00:00Z", "2028-02-29T00:00:00Z"],
  ["day", "2026-02-28T10:00:00.000Z", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"],
  ["day", "2026-12-31T23:00:00.000Z", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"],
  // Clocks in Europe and America are moved on these days; UTC's are not.
  ["day", "2026-03-29T02:30:00.000Z", "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"],
  ["day", "2026-11-01T06:30:00.000Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"],
  ["week", "2026-11-16T00:00:00.000Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"],
  ["week", "2026-11-22T23:59:59.999Z", "2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"],
  ["week", "2027-01-01T12:00:00.000Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"],
  ["week", "2028-03-01T00:00:00.000Z", "2028-02-28T00:00:00Z", "2028-03-06T00:00:00Z"],
  ["month", "2026-11-30T23:59:59.999Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"],
  ["month", "2026-12-01T00:00:00.000Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
  ["month", "2028-02-29T12:00:00.000Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"],
  ["month", "2100-02-28T12:00:00.000Z", "2100-02-01T00:00:00Z", "2100-03-01T00:00:00Z"],
])("the %s of %s is from %s to %s", (period, now, from, to) => {
  const range = periodAt(period, Date.parse(now));
  expect([iso(range.from), iso(range.to)]).toEqual([from, to]);
});

const policy = { isEnabled: true, period: "month" as const, defaultLimitMicros: 10n };

test.each([
  ["everybody's, without one of their own", policy, null, "deployment", 10n],
  ["their own, when it is lower", policy, 5n, "user", 5n],
  ["their own, when it is higher", policy, 50n, "user", 50n],
  ["their own, though it is 0", policy, 0n, "user", 0n],
  ["their own, where there is none for everybody", { ...policy, defaultLimitMicros: null }, 5n, "user", 5n],
  ["none, where there is none at all", { ...policy, defaultLimitMicros: null }, null, "none", null],
  ["none, when limits are off", { ...policy, isEnabled: false }, 5n, "none", null],
] as const)("the limit that counts is %s", (_, rules, own, source, limitMicros) => {
  expect(effectiveLimit(rules, own)).toEqual({ source, limitMicros });
});

const november = periodAt("month", Date.UTC(2026, 10, 21));
function statusOf(limitMicros: bigint | null, spentMicros: bigint): LimitStatus {
  return { source: "user", period: "month", limitMicros, spentMicros, range: november };
}

test.each([
  [null, 999n, false, null],
  [10n, 0n, false, 10n],
  [10n, 9n, false, 1n],
  [10n, 10n, true, 0n],
  [10n, 11n, true, 0n],
  [0n, 0n, true, 0n],
])("of a limit of %s, %s are spent: reached %s, left %s", (limit, spent, reached, left) => {
  const found = statusOf(limit, spent);
  expect([isReached(found), remainingMicros(found)]).toEqual([reached, left]);
});

test("the message of a reached limit has the amount spent in dollars and the time of the reset", () => {
  const reached = statusOf(12_500_000n, 12_500_001n);
  expect(isReached(reached) && limitReachedFailure(reached)).toEqual({
    kind: "usage_limit",
    message:
      "The usage limit of $12.50 per month is reached: $12.500001 are spent. It resets at 2026-12-01T00:00:00.000Z.",
    isRetryable: false,
  });
  expect(limitBusyFailure(1_000_000n, "day")).toMatchObject({ kind: "usage_limit", isRetryable: true });
});

const prices = { input: "3", output: "15", cacheRead: "0.3", cacheWrite: "3.75" };

test.each([
  ["the dearest kind of input and all of the output", prices, 1000 * 3.75 + 500 * 15],
  ["input where nothing is dearer", { ...prices, cacheRead: null, cacheWrite: null }, 1000 * 3 + 500 * 15],
  ["cache reads, where those are dearest", { ...prices, cacheRead: "4" }, 1000 * 4 + 500 * 15],
  ["nothing, where it is free", { input: "0", output: "0", cacheRead: null, cacheWrite: null }, 0],
  ["nothing that anybody will know, without prices", null, 0],
])("a call can cost %s", (_, pricing, micros) => {
  expect(maxCost({ inputTokens: 1000, outputTokens: 500 }, pricing)).toBe(BigInt(micros));
});
