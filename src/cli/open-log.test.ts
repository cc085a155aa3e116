import { expect, test } from "vitest";
import { isPretty } from "./open-log.js";

test.each([
  ["auto", true, true],
  ["auto", false, false],
  ["pretty", false, true],
  ["json", true, false],
] as const)(
  "with the format %s on a terminal (%s) lines are for people: %s",
  (format, isTerminal, pretty) => {
    expect(isPretty(format, isTerminal)).toBe(pretty);
  },
);
