import fc from "fast-check";
import { expect, test } from "vitest";
import { plainJson } from "./plain-json.js";

test("JSON stays as it is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const sent: unknown = JSON.parse(JSON.stringify(value));
      expect(JSON.parse(JSON.stringify(plainJson(value)))).toEqual(sent);
    }),
  );
});

test("any value that a tool returns becomes well-formed JSON", () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withSparseArray: true, withMap: true }),
      (value) => {
        const result = plainJson(value);
        expect(JSON.parse(JSON.stringify(result))).toEqual(JSON.parse(JSON.stringify(result)));
        expect(JSON.stringify(result)).not.toMatch(/\\ud[89a-f]/i);
      },
    ),
  );
});

const circular: Record<string, unknown> = { name: "a" };
circular.self = circular;
circular.list = [circular];
let deep: unknown = "bottom";
for (let level = 0; level < 10_000; level += 1) deep = [deep];
const twice = { shared: true };

test.each([
  ["nothing at all", undefined, null],
  ["a function", () => 1, null],
  ["missing fields", { a: undefined, b: 1, c: () => 1 }, { b: 1 }],
  ["missing items", [undefined, 1, Symbol("x")], [null, 1, null]],
  ["numbers that are none", [Number.NaN, Infinity, 2], [null, null, 2]],
  ["big integers", [12n, 2n ** 80n], [12, "1208925819614629174706176"]],
  ["dates", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
  ["circles", circular, { name: "a", self: "[circular]", list: ["[circular]"] }],
  ["one object twice", [twice, twice], [{ shared: true }, { shared: true }]],
  ["null bytes", "a\u0000b", "a\u0000b"],
  [
    "halves of characters",
    { "k\uD800": ["a\uD83D", "\uDE00b", "\u{1F600}"] },
    { "k\uFFFD": ["a\uFFFD", "\uFFFDb", "\u{1F600}"] },
  ],
  [
    "a key that means something to JavaScript",
    JSON.parse('{"__proto__":{"a":1}}'),
    JSON.parse('{"__proto__":{"a":1}}'),
  ],
])("a result with %s becomes plain JSON", (_case, input: unknown, expected: unknown) => {
  expect(plainJson(input)).toEqual(expected);
});

test("infinite depth is marked, and a value that expands without end is refused", () => {
  expect(JSON.stringify(plainJson(deep))).toBe(`${"[".repeat(100)}"[nested too deeply]"${"]".repeat(100)}`);
  let exponential: unknown = "ha";
  for (let level = 0; level < 40; level += 1) exponential = [exponential, exponential];
  expect(() => plainJson(exponential)).toThrow(RangeError);
});
