import { expect, test } from "vitest";
import { progressLine } from "./progress-line.js";

test.each([
  [{ progress: 3 }, "3\n"],
  [{ progress: 3, total: 10 }, "3 of 10\n"],
  [{ progress: 0.5, total: 1, message: " two\n lines " }, "0.5 of 1: two lines\n"],
  [{ progress: 1, message: "x".repeat(500) }, `1: ${"x".repeat(197)}\n`],
])("%j is one short line", (progress, line) => {
  expect(progressLine(progress)).toBe(line);
});
