import { expect, test } from "vitest";
import { jsonSize } from "./json-size.js";

const NO_LIMIT = 1e9;
const megabyte = "x".repeat(1_000_000);

test.each<[string, unknown]>([
  ["plain text", "x".repeat(10_000)],
  ["text of three bytes a character", "€".repeat(10_000)],
  ["characters that JSON escapes with six", "\u0001".repeat(10_000)],
  ["quotes", { text: '"'.repeat(10_000) }],
  ["one text that is referenced many times", Array.from({ length: 15 }, () => ({ text: megabyte }))],
])("the size of %s is that of its JSON", (_what, value) => {
  const exact = Buffer.byteLength(JSON.stringify(value));
  const size = jsonSize(value, NO_LIMIT);
  expect(size).toBeGreaterThanOrEqual(exact);
  expect(size).toBeLessThan(exact * 1.01 + 16);
});

test("counting stops beyond the limit", () => {
  let reads = 0;
  const items = Array.from({ length: 50 }, () => ({
    get text() {
      reads += 1;
      return megabyte;
    },
  }));
  expect(jsonSize(items, 3_500_000)).toBeGreaterThan(3_500_000);
  expect(reads).toBe(4);
});

test("a small value is only estimated, a deeply nested one is measured", () => {
  const deep = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`) as unknown;
  expect(jsonSize({ text: "€€€" }, NO_LIMIT, 100)).toBe(19);
  expect(jsonSize(deep, NO_LIMIT)).toBe(20_000);
});
