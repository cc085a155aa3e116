import { expect, test } from "vitest";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import { nextIntervalMs, AdaptiveThrottle } from "./adaptive-throttle.js";

test.each([
  ["an idle server keeps the shortest interval", 15, 0.1, 15],
  ["a busy one doubles it", 15, 0.9, 30],
  ["but not above 150 ms", 120, 1, 150],
  ["one that is idle again halves it", 150, 0.5, 75],
  ["not below 15 ms", 16, 0, 15],
  ["between the two it stays", 60, 0.75, 60],
])("%s", (_sentence, intervalMs, load, expected) => {
  expect(nextIntervalMs(intervalMs, load)).toBe(expected);
});

test("the load is sampled once in 200 ms, whatever the number of calls", () => {
  const clock = new ManualClock();
  const loads = [1, 1, 0];
  const throttle = new AdaptiveThrottle(() => loads.shift() ?? 0, clock);
  const asked = (times: number) => Array.from({ length: times }, () => throttle.intervalMs());
  expect(asked(3)).toEqual([30, 30, 30]);
  clock.advance(199);
  expect(asked(2)).toEqual([30, 30]);
  clock.advance(1);
  expect(asked(2)).toEqual([60, 60]);
  clock.advance(200);
  expect(asked(2)).toEqual([30, 30]);
});
