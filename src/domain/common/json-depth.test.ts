import { expect, test } from "vitest";
import { isDeeperThan } from "./json-depth.js";

const nested = (depth: number, [open, close] = ["[", "]"]): unknown =>
  JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

test.each<[string, unknown, boolean]>([
  ["a number", 1, false],
  ["null", null, false],
  ["100 lists", nested(100), false],
  ["101 lists", nested(101), true],
  ["100 objects", nested(100, ['{"a":', "}"]), false],
  ["101 objects", nested(101, ['{"a":', "}"]), true],
  ["100,000 lists", nested(100_000), true],
  ["a wide value", Array.from({ length: 100_000 }, () => ({})), false],
])("%s: too deep is %#", (_, value, expected) => {
  expect(isDeeperThan(value)).toBe(expected);
});
