import { expect, test } from "vitest";
import { findKnownModel } from "./known-models.js";

test.each([
  ["claude-haiku-4-5", "1"],
  ["claude-haiku-4-5-20251001", "1"],
  ["global.anthropic.claude-haiku-4-5-20251001-v1:0", "1"],
  ["anthropic.claude-opus-4-1-20250805-v1:0", "15"],
  ["gpt-5-2025-08-07", "1.25"],
  ["gpt-5-mini", "0.25"],
  ["parley-demo", "0"],
])("%s is known by its name, whatever its date and cloud", (model, input) => {
  expect(findKnownModel(model)?.pricing?.input).toBe(input);
});

test.each(["gpt-5-turbo", "claude", "", "constructor", "my-gpt-5", "claude-haiku-4-5-latest"])(
  "%j is not taken for another",
  (model) => {
    expect(findKnownModel(model)).toBeNull();
  },
);
