import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.js";

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["5m", 300_000],
  ["2h", 7_200_000],
  ["1h30m", 5_400_000],
  ["1.5s", 1_500],
  [" 10S ", 10_000],
  ["0s", 0],
  ["0", 0],
  ["", undefined],
  ["30", undefined],
  ["-5s", undefined],
  ["s", undefined],
  ["5 m", undefined],
  ["5 minutes", undefined],
  ["1e3s", undefined],
  ["NaN", undefined],
])("the duration %j is %j milliseconds", (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  [0, "0s"],
  [500, "500ms"],
  [10_000, "10s"],
  [90_000, "1m30s"],
  [14_400_000, "4h"],
])("%j milliseconds are written %j", (durationMs, expected) => {
  expect(formatDuration(durationMs)).toBe(expected);
});
