import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS, splitRange } from "./date-range.js";

const at = (text: string) => Date.parse(text);

test.each([
  ["two whole days", "2026-11-20T00:00:00Z", "2026-11-22T00:00:00Z", 1, []],
  ["part of one day", "2026-11-20T01:00:00Z", "2026-11-20T02:00:00Z", 0, [[1, 2]]],
  ["parts of two days", "2026-11-20T23:00:00Z", "2026-11-21T01:00:00Z", 0, [[23, 24], [24, 25]]], // prettier-ignore
  ["a day and both its neighbours' ends", "2026-11-19T23:00:00Z", "2026-11-21T01:00:00Z", 1, [[-1, 0], [24, 25]]], // prettier-ignore
  ["nothing", "2026-11-20T00:00:00Z", "2026-11-20T00:00:00Z", 0, []],
  ["nothing backwards", "2026-11-21T00:00:00Z", "2026-11-20T00:00:00Z", 0, []],
])("%s", (_, from, to, wholeDays, hours) => {
  const midnight = at("2026-11-20T00:00:00Z");
  const { days, edges } = splitRange({ from: at(from), to: at(to) });
  expect({ hasDays: days !== null, edges }).toEqual({
    hasDays: wholeDays > 0,
    edges: hours.map(([start = 0, end = 0]) => ({
      from: midnight + start * 3_600_000,
      to: midnight + end * 3_600_000,
    })),
  });
});

test("every time in a range is in exactly one of its parts, and no other time is in any", () => {
  const anyTime = fc.integer({ min: -3 * DAY_MS, max: 3 * DAY_MS });
  fc.assert(
    fc.property(anyTime, anyTime, anyTime, (from, to, time) => {
      const { days, edges } = splitRange({ from, to });
      const parts = days === null ? edges : [days, ...edges];
      const containing = parts.filter((part) => part.from <= time && time < part.to);
      expect(containing).toHaveLength(from <= time && time < to ? 1 : 0);
    }),
  );
});
