/** Context windows parsed from vendors' real descriptions and refusals. */
import { describe, expect, test } from "vitest";
import { contextLimitIn, findContextLimitIn } from "./context-limit.js";

describe("a description of a model", () => {
  test.each([
    [{ id: "m", object: "model", created: 1_700_000_000, owned_by: "system" }, undefined],
    [
      { context_length: 131_072, top_provider: { context_length: 65_536, max_completion_tokens: 8_192 } },
      131_072,
    ],
    [{ id: "m", max_model_len: 32_768 }, 32_768],
    [{ context_window: 131_072, max_completion_tokens: 32_768 }, 131_072],
    [{ max_context_length: 32_768, capabilities: { vision: true } }, 32_768],
    [{ maxInputTokens: "200000" }, 200_000],
    [{ inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 }, 1_048_576],
    [{ limits: [{ "max-context-tokens": 8_192 }, { contextLimit: 4_096 }] }, 8_192],
    [{ "context window (max)": 1_000 }, 1_000],
    [{ modelContextSizeLimit: 5_000 }, 5_000],
    [{ context_tokens_used: 900, context: 5, window_size: 7, max_tokens: 4_096 }, undefined],
    [{ context_length: 0, contextWindow: -1, context_limit: 1.5, maxContext: "many" }, undefined],
    [{ context_length: 4_096.0, max_context: null }, 4_096],
    [{ context_length: { max_context_length: 99_000 } }, 99_000],
    ["context_length", undefined],
    [null, undefined],
  ])("%j has the window %j", (description, limit) => {
    expect(findContextLimitIn(description)).toBe(limit);
  });

  test("one that never ends is given up", () => {
    const loop: Record<string, unknown> = { context_length: 10 };
    loop.self = loop;
    expect(findContextLimitIn(loop)).toBe(10);
  });
});

describe("a refusal", () => {
  test.each([
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
      8_192,
    ],
    [
      "This endpoint's maximum context length is 131,072 tokens. However, you requested about 150000 tokens",
      131_072,
    ],
    ["this model's maximum prompt length is 131072 but the request contains 150000 tokens.", 131_072],
    ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
    [
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
      200_000,
    ],
    ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
    ["The input token count exceeds the maximum number of tokens allowed 1000000.", 1_000_000],
    [
      "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      32_768,
    ],
    ["the request exceeds the available context size (4096 tokens), try increasing it", 4_096],
    ["Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", 262_144],
    ["prompt token count of 90000 exceeds the limit of 64000", 64_000],
    ["Requested tokens (5000) exceed context window of 4096", 4_096],
    [
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      undefined,
    ],
    ["Input is too long for requested model.", undefined],
    ["prompt too long; exceeded max context length by 100 tokens", undefined],
    ["The maximum tokens you requested exceeds the model limit of 4096", undefined],
    ["", undefined],
  ])("%s", (text, limit) => {
    expect(contextLimitIn(text)).toBe(limit);
    expect(contextLimitIn(text.toLowerCase())).toBe(limit);
  });

  test("a very long one is searched quickly", () => {
    expect(contextLimitIn("exceed context limit: 1".repeat(100_000))).toBe(undefined);
  });
});
