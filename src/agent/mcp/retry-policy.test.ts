import { expect, test } from "vitest";
import { retryDelayMs } from "./retry-policy.js";

test("a server that keeps failing is tried ever more rarely, but at least every five minutes", () => {
  expect([0, 1, 2, 3, 6, 7, 100].map(retryDelayMs)).toEqual([
    0, 5_000, 10_000, 20_000, 160_000, 300_000, 300_000,
  ]);
});
