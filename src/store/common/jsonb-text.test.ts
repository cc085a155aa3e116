import fc from "fast-check";
import { expect, test } from "vitest";
import { fromJsonb, toJsonb } from "./jsonb-text.js";

test("stored text never contains what jsonb refuses, and every well-formed value makes the round trip", () => {
  const tricky = fc.string({
    unit: fc.constantFrom("\u0000", "\uE000", "\uE001", "a", "é", "\\", '"', "\u{1F600}"),
  });
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.dictionary(tricky, tricky)), (any, deep) => {
      const value = { any, deep };
      const text = toJsonb(value);
      expect(text).not.toMatch(/\\u0000|\u0000/);
      expect(fromJsonb(JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("a lone surrogate becomes the replacement character", () => {
  expect(fromJsonb(JSON.parse(toJsonb(["a\uD800b", "\uDC00", "\u{1F600}"])))).toEqual([
    "a\uFFFDb",
    "\uFFFD",
    "\u{1F600}",
  ]);
});
