import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_RETRY_DELAYS, retryDelayMs } from "../../sdk/src/retry-delay.js";

const longest = (attempt: number) =>
  retryDelayMs(attempt, DEFAULT_RETRY_DELAYS, () => 1 - Number.EPSILON) + 1;

test("the bound of the delay doubles each time, up to 30 s", () => {
  expect([1, 2, 3, 4, 5, 6, 7, 5_000].map(longest)).toEqual([
    ...[1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
  ]);
});

test("a delay is random below its bound, so that clients do not reconnect together", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, part) => {
        const waitMs = retryDelayMs(attempt, DEFAULT_RETRY_DELAYS, () => part);
        expect(waitMs).toBe(Math.floor(part * longest(attempt)));
        expect(Number.isInteger(waitMs)).toBe(true);
      },
    ),
  );
});
