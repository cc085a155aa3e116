import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { environmentRange } from "./process-stat.js";

const stat = (name: string, start: string, end: string) =>
  `7 (${name}) S ${Array.from({ length: 46 }, () => "0").join(" ")} ${start} ${end} 0\n`;

test.each<[stat: string, range: ReturnType<typeof environmentRange>]>([
  [stat("node", "1000", "1010"), { start: 1000, length: 10 }],
  [stat("a) b (c", "1000", "1010"), { start: 1000, length: 10 }],
  [stat("node", "140726998732513", "140726998733802"), { start: 140726998732513, length: 1289 }],
  [stat("node", "0", "0"), undefined],
  [stat("node", "1000", "1000"), undefined],
  [stat("node", "18446744073709551615", "18446744073709551616"), undefined],
  ["", undefined],
  ["7 (node) S 0 0", undefined],
])("%j has its environment at %j", (text, range) => {
  expect(environmentRange(text)).toEqual(range);
});

test.skipIf(process.platform !== "linux")("the range of this process is as long as its block", () => {
  const range = environmentRange(readFileSync("/proc/self/stat", "utf8"));
  expect(range?.length).toBe(readFileSync("/proc/self/environ").length);
});
