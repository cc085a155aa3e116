import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../domain/common/json.js";
import { capResult, resultLimitBytes } from "./cap-result.js";

const KIB = 1024;
const sizeOf = (value: JsonValue) => Buffer.byteLength(JSON.stringify(value));
const isWellFormed = (text: string) => !/\p{Surrogate}/u.test(text);

/** Text that is short, long, escaped, wide, or broken. */
const text = fc
  .tuple(
    fc.string({ unit: fc.constantFrom("a", "\n", "\u0000", '"', "é", "€", "😀"), maxLength: 30 }),
    fc.nat(400),
  )
  .map(([fragment, times]) => fragment.repeat(times));
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.constantFrom(null, true),
    fc.array(tie("value"), { maxLength: 12 }),
    fc.integer({ min: 0, max: 3_000 }).map((length) => Array.from({ length }, (_, index) => index)),
    fc.dictionary(fc.string({ maxLength: 40 }), tie("value"), { maxKeys: 12 }),
    fc
      .integer({ min: 0, max: 800 })
      .map((count) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]))),
  ),
}));

test("no result is ever larger than its limit, and a fitting one is unchanged", () => {
  fc.assert(
    fc.property(value, fc.integer({ min: 128, max: 20_000 }), (result, limit) => {
      const capped = capResult(result, limit);
      expect(sizeOf(capped)).toBeLessThanOrEqual(limit);
      if (sizeOf(result) <= limit) expect(capped).toBe(result);
      else expect(capped).not.toEqual(result);
      expect(isWellFormed(JSON.stringify(capped))).toBe(true);
      expect(capResult(capped, limit)).toBe(capped);
      expect(Array.isArray(capped)).toBe(Array.isArray(result));
      expect(typeof capped).toBe(typeof result);
    }),
    { numRuns: 300 },
  );
});

test("a long text keeps two thirds of what fits from its beginning and one third from its end, and says what is gone", () => {
  fc.assert(
    fc.property(fc.constantFrom("a", "é", "€", "😀"), fc.integer({ min: 100, max: 5_000 }), (unit, limit) => {
      const long = unit.repeat(20_000);
      const capped = capResult(long, limit) as string;
      const [, head = "", left, tail = ""] =
        /^(.*)\n\n... \[(\d+) bytes left out\] ...\n\n(.*)$/u.exec(capped) ?? [];
      expect(long.startsWith(head) && long.endsWith(tail)).toBe(true);
      const bytes = [long, head, tail].map((fragment) => Buffer.byteLength(fragment));
      expect(Number(left)).toBe((bytes[0] ?? 0) - (bytes[1] ?? 0) - (bytes[2] ?? 0));
      expect(Math.abs((bytes[1] ?? 0) - 2 * (bytes[2] ?? 0))).toBeLessThanOrEqual(16);
      expect(limit - sizeOf(capped)).toBeLessThanOrEqual(16);
    }),
  );
});

describe("an object", () => {
  test("keeps its shape: its longest texts are cut, all else stays", () => {
    const result = {
      success: false,
      output: "o".repeat(200 * KIB),
      exit_code: 3,
      errors: ["e".repeat(100 * KIB), "short"],
      files: Array.from({ length: 3_000 }, (_, index) => index),
    };
    const capped = capResult(result, 64 * KIB) as typeof result;
    expect(capped).toEqual({
      ...result,
      output: expect.stringMatching(/^o+\n\n... \[\d+ bytes left out\] ...\n\no+$/) as string,
      errors: [expect.stringMatching(/^e+\n\n... \[\d+ bytes left out\] ...\n\ne+$/) as string, "short"],
    });
    expect(Math.abs(capped.output.length - (capped.errors[0]?.length ?? 0))).toBeLessThan(8);
    expect(sizeOf(capped)).toBeGreaterThan(63 * KIB);
  });

  test("of which only one text is long leaves the others alone", () => {
    const result = { a: "a".repeat(10 * KIB), b: "b".repeat(900 * KIB), c: "c".repeat(5 * KIB) };
    expect(capResult(result, 64 * KIB)).toEqual({
      ...result,
      b: expect.stringContaining("bytes left out") as string,
    });
  });

  test("with more fields than fit loses fields from its middle and says how many", () => {
    const result = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`field_${index}`, index]),
    );
    const capped = capResult({ ...result, "...": "mine" }, 16 * KIB) as Record<string, JsonValue>;
    const keys = Object.keys(capped);
    expect(capped["...1"]).toBe(`[${10_001 - keys.length + 1} of 10001 fields left out]`);
    expect([keys[0], keys.at(-1), capped["..."]]).toEqual(["field_0", "...", "mine"]);
  });
});

describe("a list", () => {
  test("without long texts loses items from its middle and says how many", () => {
    const result = Array.from({ length: 50_000 }, (_, index) => index);
    const capped = capResult(result, 16 * KIB) as JsonValue[];
    const note = capped.findIndex((item) => typeof item === "string");
    expect(capped[note]).toBe(`... [${50_000 - capped.length + 1} of 50000 items left out] ...`);
    expect([capped[0], capped.at(-1)]).toEqual([0, 49_999]);
    expect(sizeOf(capped.slice(0, note)) / sizeOf(capped)).toBeCloseTo(2 / 3, 1);
  });

  test("of a few large items keeps them all, each made smaller", () => {
    const rows = Array.from({ length: 9_000 }, (_, index) => index);
    const capped = capResult([{ rows }, { rows }, { name: "small" }], 32 * KIB);
    const smaller = {
      rows: expect.arrayContaining([0, 8_999, expect.stringContaining("items left out")]) as unknown,
    };
    expect(capped).toEqual([smaller, smaller, { name: "small" }]);
  });

  test("that begins with one huge item still shows it", () => {
    const huge = Array.from({ length: 20_000 }, () => 1);
    const items = [huge, ...Array.from({ length: 200 }, (_, index) => [index, "x".repeat(900)])];
    expect((capResult(items, 32 * KIB) as JsonValue[])[0]).toContainEqual(
      expect.stringContaining("of 20000 items left out"),
    );
  });
});

test.each([
  [null, 64 * KIB],
  [1_000_000, 64 * KIB],
  [32_768, 64 * KIB],
  [20_000, 40_000],
  [8_192, 16 * KIB],
  [1, 16 * KIB],
  [-5, 16 * KIB],
  [Number.NaN, 64 * KIB],
  [10_000.5, 20_001],
])("a model with a context of %s tokens gets results of at most %s bytes", (tokens, bytes) => {
  expect(resultLimitBytes(tokens)).toBe(bytes);
});

test("ten megabytes are cut to the limit, as one text or as a million elements", () => {
  const limit = 64 * KIB;
  const sizes = [
    "x".repeat(10_000_000),
    "\u0000".repeat(3_000_000),
    { output: "😀".repeat(2_500_000) },
    Array.from({ length: 300_000 }, (_, index) => `line ${index} of a very long log`),
  ].map((result) => sizeOf(capResult(result, limit)));
  for (const size of sizes) expect([size > limit - KIB, size <= limit]).toEqual([true, true]);
});
