import fc from "fast-check";
import Fraction from "fraction.js";
import { describe, expect, test } from "vitest";
import type { TokenUsage } from "../chats/message-parts.js";
import { costMicros, formatDollars, parsePrice, type ModelPricing } from "./money.js";

const none: ModelPricing = { input: null, output: null, cacheRead: null, cacheWrite: null };
const noTokens = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

describe("a model call costs", () => {
  test.each<[string, Partial<TokenUsage>, Partial<ModelPricing>, bigint | null]>([
    ["3,000 for 1,000 input tokens at 3", { inputTokens: 1000 }, { input: "3" }, 3000n],
    ["7,500 for 500 output tokens at 15", { outputTokens: 500 }, { output: "15" }, 7500n],
    ["1 for a single token at 0.01, because it is rounded up", { inputTokens: 1 }, { input: "0.01" }, 1n],
    ["3,000 for 10,000 cached tokens at 0.3", { cacheReadTokens: 10_000 }, { cacheRead: "0.3" }, 3000n],
    ["18,750 for writing 5,000 at 3.75", { cacheWriteTokens: 5000 }, { cacheWrite: "3.75" }, 18_750n],
    [
      "2,005 for the sum, rounded once and not four times",
      { inputTokens: 101, outputTokens: 201, cacheReadTokens: 1005, cacheWriteTokens: 33 },
      { input: "1.23", output: "4.56", cacheRead: "0.7", cacheWrite: "7.89" },
      2005n,
    ],
    ["3,085 for 1,234 at 2.5", { inputTokens: 1234 }, { input: "2.5" }, 3085n],
    ["nothing more for reasoning", { outputTokens: 500, reasoningTokens: 400 }, { output: "15" }, 7500n],
    ["0 when the price is 0", { inputTokens: 1000, outputTokens: 5 }, { input: "0", output: "0" }, 0n],
    ["0 when nothing was used of what has a price", {}, { input: "3" }, 0n],
    ["nothing for a kind without a price", { inputTokens: 10, cacheWriteTokens: 9 }, { input: "1" }, 10n],
    ["an unknown amount without any price", { inputTokens: 1000 }, {}, null],
    ["an unknown amount when only other kinds have one", { inputTokens: 10 }, { output: "15" }, null],
  ])("%s", (_, usage, pricing, micros) => {
    expect(costMicros({ ...noTokens, ...usage }, { ...none, ...pricing })).toBe(micros);
  });

  test("an unknown amount when its usage or the model's prices are unknown", () => {
    expect([costMicros(null, { ...none, input: "3" }), costMicros(noTokens, null)]).toEqual([null, null]);
  });

  const tokens = fc.integer({ min: 0, max: 2 ** 31 - 1 });
  const digits = fc.tuple(
    fc.integer({ min: 0, max: 999_999 }),
    fc.stringMatching(/^\d{1,10}$/),
    fc.boolean(),
  );
  const price = digits.map(([whole, decimals, isWhole]) => (isWhole ? `${whole}` : `${whole}.${decimals}`));
  const usages = fc.record({
    inputTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  });
  const pricings = fc.record({
    input: fc.option(price),
    output: fc.option(price),
    cacheRead: fc.option(price),
    cacheWrite: fc.option(price),
  });

  test("the result of exact rational arithmetic, rounded up", () => {
    fc.assert(
      fc.property(usages, pricings, (usage, pricing) => {
        const terms: [number, string | null][] = [
          [usage.inputTokens, pricing.input],
          [usage.outputTokens, pricing.output],
          [usage.cacheReadTokens, pricing.cacheRead],
          [usage.cacheWriteTokens, pricing.cacheWrite],
        ];
        const priced = terms.filter(([count, each]) => count > 0 && each !== null);
        const isUnpriced =
          terms.every(([, each]) => each === null) ||
          (priced.length === 0 && terms.some(([count]) => count > 0));
        const sum = priced.reduce(
          (total, [count, each]) => total.add(new Fraction(each ?? "0").mul(count)),
          new Fraction(0),
        );
        const expected = isUnpriced ? null : BigInt(sum.ceil().toString());
        expect(costMicros(usage, pricing)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});

test.each([
  [0n, "$0.00"],
  [1n, "$0.000001"],
  [10_000n, "$0.01"],
  [12_500_000n, "$12.50"],
  [12_345_600n, "$12.3456"],
  [1_000_000_000_000n, "$1000000.00"],
  [-1_500_000n, "-$1.50"],
])("%s microdollars are formatted as %s", (micros, text) => {
  expect(formatDollars(micros)).toBe(text);
});

describe("a price", () => {
  test.each([
    ["0", 0n],
    ["3", 30_000_000_000n],
    ["0.0000000001", 1n],
    ["1000000", 10n ** 16n],
    ["2.50", 25_000_000_000n],
  ])("may be %s", (text, scaled) => {
    expect(parsePrice(text)).toBe(scaled);
  });

  test.each(["", "-1", "+1", "1e3", "1.", ".5", "1,5", "NaN", "1000000.0000000001", "0.00000000001", " 1"])(
    "is not %j",
    (text) => {
      expect(parsePrice(text)).toBeNull();
    },
  );
});
