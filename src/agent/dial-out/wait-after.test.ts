import { expect, test } from "vitest";
import type { CallEnd } from "./call.js";
import { LONGEST_WAIT_MS, STAND_BY_WAIT_MS, waitAfter } from "./wait-after.js";

const failed: CallEnd = { reason: "refused", wasRegistered: false, wasReplaced: false };

test("the wait doubles with each failure, and ends at a bound", () => {
  expect([0, 1, 2, 3, 6, 1_000].map((failures) => waitAfter(failed, failures, 0))).toEqual([
    250,
    500,
    1_000,
    2_000,
    LONGEST_WAIT_MS,
    LONGEST_WAIT_MS,
  ]);
});

test("chance takes up to half of a wait away", () => {
  expect([0, 0.5, 1].map((chance) => waitAfter(failed, 2, chance))).toEqual([1_000, 750, 500]);
});

test("whose place was taken waits for long, however often it has failed", () => {
  const replaced = { ...failed, wasReplaced: true };
  expect([0, 9].map((failures) => waitAfter(replaced, failures, 0))).toEqual([
    STAND_BY_WAIT_MS,
    STAND_BY_WAIT_MS,
  ]);
});
