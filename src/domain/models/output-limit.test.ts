import { expect, test } from "vitest";
import { desiredOutputTokens, fittingOutputTokens, isWindowAmple, modelOutputLimit } from "./output-limit.js";

const bounds = (
  model: string,
  maxOutputTokens: number | null = null,
  observedOutputLimit: number | null = null,
) => ({ model, maxOutputTokens, observedOutputLimit });

test.each([
  ["an unknown model is asked for the deployment's default", bounds("some-model"), 32_000],
  ["a known one for what it gives", bounds("gpt-4o-2024-08-06"), 16_384],
  ["a known one that gives more, for the default", bounds("claude-haiku-4-5"), 32_000],
  ["an administrator's word counts", bounds("some-model", 64_000), 64_000],
  ["also against the table, which may be old", bounds("gpt-4o", 20_000), 20_000],
  ["but not against what was seen", bounds("some-model", 64_000, 8_192), 8_192],
  ["what was seen counts for the default", bounds("some-model", null, 4_096), 4_096],
  ["a smaller configured limit stays", bounds("some-model", 1_000, 4_096), 1_000],
])("%s", (_case, input, tokens) => {
  expect(desiredOutputTokens(input, 32_000)).toBe(tokens);
});

test("the deployment's default may be smaller or larger", () => {
  expect(desiredOutputTokens(bounds("some-model"), 2_000)).toBe(2_000);
  expect(desiredOutputTokens(bounds("claude-haiku-4-5"), 100_000)).toBe(64_000);
});

test("an observed limit overrides the table", () => {
  expect([bounds("gpt-4o", null, 30_000), bounds("gpt-4o"), bounds("x")].map(modelOutputLimit)).toEqual([
    30_000,
    16_384,
    null,
  ]);
});

test.each([
  [32_000, null, 1_000_000, 32_000],
  [32_000, 200_000, 1_000, 32_000],
  [32_000, 8_192, 1_000, 7_156],
  [32_000, 8_192, 8_000, 256],
  [100, 8_192, 8_000, 100],
])("%d wanted, a window of %s, a prompt of %d: %d", (wanted, window, prompt, tokens) => {
  expect(fittingOutputTokens(wanted, window, prompt)).toBe(tokens);
});

test.each([
  [32_000, 200_000, 80_000, true],
  [32_000, 200_000, 83_000, false],
  [32_000, 200_000, null, false],
  [32_000, 20_000, 10, false],
])("%d wanted, a window of %d, %s tokens measured: ample is %s", (wanted, window, measured, ample) => {
  expect(isWindowAmple(wanted, window, measured)).toBe(ample);
});
