import { expect, test } from "vitest";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import { googleThinking } from "./thinking.js";

const think = (
  model: string,
  reasoningEffort: ReasoningEffort | undefined,
  options = {},
  maxOutputTokens = 64_000,
) =>
  googleThinking(
    { model, maxOutputTokens, ...(reasoningEffort === undefined ? {} : { reasoningEffort }) },
    options,
  );

test.each([
  ["gemini-3.8-flash", undefined, undefined],
  ["gemini-3.8-flash", "none", { thinkingLevel: "LOW" }],
  ["gemini-3.8-flash", "minimal", { thinkingLevel: "LOW", includeThoughts: true }],
  ["gemini-3.8-flash", "medium", { thinkingLevel: "MEDIUM", includeThoughts: true }],
  ["gemini-3.8-flash", "max", { thinkingLevel: "HIGH", includeThoughts: true }],
  ["gemini-3-flash-preview", "none", { thinkingLevel: "MINIMAL" }],
  ["gemini-3.1-flash-lite", "minimal", { thinkingLevel: "MINIMAL", includeThoughts: true }],
  ["gemini-3.1-pro-preview", "minimal", { thinkingLevel: "LOW", includeThoughts: true }],
  ["gemini-pro-latest", "high", { thinkingLevel: "HIGH", includeThoughts: true }],
  ["gemini-4-argon", "low", { thinkingLevel: "LOW", includeThoughts: true }],
  ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
  ["gemini-2.5-flash", "medium", { thinkingBudget: 8_192, includeThoughts: true }],
  ["gemini-2.5-flash", "max", { thinkingBudget: 24_576, includeThoughts: true }],
  ["models/gemini-2.5-pro", "none", { thinkingBudget: 128 }],
  ["gemini-2.5-pro", "xhigh", { thinkingBudget: 32_768, includeThoughts: true }],
  ["gemini-2.0-flash", "high", undefined],
  ["gemma-4-31b-it", "high", undefined],
] as const)("%s with effort %s thinks with %j", (model, effort, expected) => {
  expect(think(model, effort)).toEqual(expected);
});

test("a budget leaves room for the answer, but never falls below what the model accepts", () => {
  expect([
    think("gemini-2.5-flash", "high", {}, 9_216),
    think("gemini-2.5-flash", "high", {}, 256),
    think("gemini-2.5-pro", "high", {}, 256),
  ]).toEqual([
    { thinkingBudget: 8_192, includeThoughts: true },
    { thinkingBudget: 512, includeThoughts: true },
    { thinkingBudget: 128, includeThoughts: true },
  ]);
});

test("the options of the configuration beat the effort", () => {
  expect([
    think("gemini-3.8-flash", "high", { thinkingBudget: 100 }),
    think("gemini-3.8-flash", "high", { includeThoughts: false }),
    think("gemini-3.8-flash", undefined, { includeThoughts: true }),
    think("gemini-2.0-flash", undefined, { thinkingBudget: -1 }),
  ]).toEqual([
    { thinkingBudget: 100, includeThoughts: true },
    { thinkingLevel: "HIGH", includeThoughts: false },
    { includeThoughts: true },
    { thinkingBudget: -1 },
  ]);
});
