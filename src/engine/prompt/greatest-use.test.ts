import { expect, test } from "vitest";
import type { ModelRequest } from "../../providers/types.js";
import { greatestUse } from "./greatest-use.js";

const request = (text: string): ModelRequest => ({
  model: "m",
  system: "Be brief.",
  messages: [{ role: "user", parts: [{ type: "text", text }] }],
  tools: [],
  maxOutputTokens: 500,
});

test("a prompt has at most as many tokens as bytes, and the answer as many as are requested", () => {
  const { inputTokens, outputTokens } = greatestUse(request("é".repeat(1_000)), null);
  expect([inputTokens > 2_000, inputTokens < 2_200, outputTokens]).toEqual([true, true, 500]);
});

test("no more tokens are counted than fit into the model", () => {
  expect(greatestUse(request("x".repeat(5_000)), 1_000).inputTokens).toBe(1_000);
});

test("images count by their bytes, small ones by a minimum", () => {
  const bare = greatestUse(request("Look"), null).inputTokens;
  const withFiles = (...sizes: number[]) => {
    const files = new Map(sizes.map((size, index) => [String(index), new Uint8Array(size)]));
    return greatestUse({ ...request("Look"), files }, null).inputTokens - bare;
  };
  expect([withFiles(70), withFiles(40_000), withFiles(70, 40_000)]).toEqual([10_000, 40_000, 50_000]);
});
