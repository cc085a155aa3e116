import { expect, test } from "vitest";
import type { ConnectionEnd } from "./server-connection.js";
import { LONGEST_DELAY_MS, STANDBY_DELAY_MS, reconnectDelay } from "./reconnect-delay.js";

const failed: ConnectionEnd = { reason: "refused", wasRegistered: false, wasReplaced: false };

test("the wait doubles with each failure, and ends at a bound", () => {
  expect([0, 1, 2, 3, 6, 1_000].map((failures) => reconnectDelay(failed, failures, 0))).toEqual([
    250,
    500,
    1_000,
    2_000,
    LONGEST_DELAY_MS,
    LONGEST_DELAY_MS,
  ]);
});

test("chance takes up to half of a wait away", () => {
  expect([0, 0.5, 1].map((chance) => reconnectDelay(failed, 2, chance))).toEqual([1_000, 750, 500]);
});

test("whose place was taken waits for long, however often it has failed", () => {
  const replaced = { ...failed, wasReplaced: true };
  expect([0, 9].map((failures) => reconnectDelay(replaced, failures, 0))).toEqual([
    STANDBY_DELAY_MS,
    STANDBY_DELAY_MS,
  ]);
});
