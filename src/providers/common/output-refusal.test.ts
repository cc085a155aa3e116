/** Vendors' real refusals of the requested output length, and similar messages that are none. */
import { describe, expect, test } from "vitest";
import { classifyError, classifyOutputRefusal } from "./error-rules.js";
import { outputRefusalIn } from "./output-refusal.js";

const judged = (text: string, codes: string[] = [], httpStatus = 400) => {
  const evidence = { httpStatus, codes, text: text.toLowerCase() };
  return classifyOutputRefusal(classifyError(evidence), evidence);
};

describe("the model's own bound", () => {
  test.each([
    [
      "OpenAI, Azure",
      "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
      16_384,
    ],
    [
      "OpenAI Responses",
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 32000 instead.",
      16_384,
    ],
    [
      "ByteDance",
      "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 393216, but got 943718 instead. Request id: 0217",
      393_216,
    ],
    [
      "Anthropic",
      "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
      8_192,
    ],
    [
      "Bedrock",
      "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
      4_096,
    ],
    [
      "Gemini",
      "Unable to submit request because it has a maxOutputTokens value of 65536 but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.",
      8_192,
    ],
    ["DeepSeek", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192],
    ["Alibaba", "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", 8_192],
    [
      "Groq",
      "`max_tokens` must be less than or equal to `40960`, the maximum value for `max_tokens` is less than the `context_window` for this model",
      40_960,
    ],
    ["Hugging Face", "Input validation error: `max_new_tokens` must be <= 4096. Given: 20000", 4_096],
    [
      "Cohere",
      "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.",
      4_096,
    ],
    [
      "Ollama's cloud",
      "max_tokens (128000) exceeds model's maximum output tokens (65536) for model nemotron-3-ultra (ref: 3761)",
      65_536,
    ],
    [
      "through LiteLLM",
      'litellm.BadRequestError: VertexAIException - {"error": {"message": "Unable to submit request because it has a maxOutputTokens value of 65536 but the supported range is from 1 (inclusive) to 65536 (exclusive)."}}',
      65_535,
    ],
  ])("%s", (_vendor, text, modelLimit) => {
    expect(judged(text)).toEqual({ kind: "config", isRetryable: false, outputRefusal: { modelLimit } });
  });
});

describe("prompt and answer together", () => {
  test.each([
    [
      "OpenAI's older models",
      "This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (64 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
      { window: 8_192, prompt: 64 },
    ],
    [
      "with tools",
      "This model's maximum context length is 8192 tokens. However, you requested 8306 tokens (64 in the messages, 50 in the functions, and 8192 in the completion). Please reduce the length of the messages, functions, or completion.",
      { window: 8_192, prompt: 114 },
    ],
    [
      "vLLM",
      "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context length is 64001 tokens and your request has 24235 input tokens (64000 > 64001 - 24235). None",
      { window: 64_001, prompt: 24_235 },
    ],
    [
      "vLLM, newer: what it says of the prompt is no count",
      "This model's maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens, for a total of at least 32769 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=769)",
      { window: 32_768 },
    ],
    [
      "vLLM, in between",
      "You passed 3073 input tokens and requested 128000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 3072 tokens. Please reduce the length of the input prompt.",
      { window: 131_072 },
    ],
    [
      "TensorRT-LLM",
      "max_tokens=32000 cannot be greater than max_model_len=max_total_tokens=8192. Please request fewer output tokens.",
      { window: 8_192 },
    ],
    [
      "vLLM's engine",
      "max_completion_tokens=131072 cannot be greater than max_model_len=128000",
      { window: 128_000 },
    ],
    [
      "Hugging Face, Together",
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 30 `inputs` tokens and 32000 `max_new_tokens`",
      { window: 8_193, prompt: 30 },
    ],
    [
      "OpenRouter",
      "This endpoint's maximum context length is 256000 tokens. However, you requested about 424983 tokens (358454 of text input, 56529 of tool input, 10000 in the output). Please reduce the length of either one.",
      { window: 256_000, prompt: 414_983 },
    ],
    [
      "Anthropic",
      "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
      { window: 200_000, prompt: 188_240 },
    ],
  ])("%s", (_vendor, text, outputRefusal) => {
    expect(judged(text)).toEqual({ kind: "context_too_large", isRetryable: false, outputRefusal });
  });
});

describe("the field is blamed, and there is no number", () => {
  test.each([
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
    "max_tokens is too high",
    "Invalid value for max_output_tokens",
  ])("%s", (text) => {
    expect(judged(text).outputRefusal).toEqual({});
  });
});

describe("something else", () => {
  test.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
    "prompt is too long: 205000 tokens > 200000 maximum",
    "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
    "The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).",
    "something odd",
    "",
  ])("%j", (text) => {
    expect(outputRefusalIn(text.toLowerCase())).toBeUndefined();
  });

  test("what an account may spend is no bound of the model", () => {
    const text =
      "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 1234.";
    expect(judged(text, [], 402)).toEqual({ kind: "billing", isRetryable: false });
    const rate = "Rate limit reached: max_tokens exceed the tokens per minute, limit 6000, requested 32100";
    expect(judged(rate, ["rate_limit_exceeded"], 429)).toEqual({ kind: "rate_limited", isRetryable: true });
  });
});

describe("fields that are too long are no overflow of the context", () => {
  const tooLong = (field: string, what = "string", most = 64) =>
    `Invalid '${field}': ${what} too long. Expected a ${what} with maximum length ${most}, but got a ${what} with length 99 instead.`;
  const LONG = "string_above_max_length";
  const MANY = "array_above_max_length";

  test.each([
    [tooLong("messages[2].tool_calls[0].id", "string", 40), LONG],
    [tooLong("messages[2].tool_calls[0].function.name"), LONG],
    [tooLong("input[1].call_id"), LONG],
    [tooLong("tools[0].function.description", "string", 1_024), LONG],
    [tooLong("prompt_cache_key"), LONG],
    [tooLong("metadata.x", "string", 512), LONG],
    [
      "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
      MANY,
    ],
    [
      "Invalid 'input[5].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
      MANY,
    ],
  ])("%s", (text, code) => {
    expect(judged(text, [code])).toEqual({ kind: "config", isRetryable: false });
  });

  test.each([
    [tooLong("messages[1].content", "string", 1_048_576), LONG],
    [tooLong("messages[1].content[0].text", "string", 1_048_576), LONG],
    [tooLong("messages[2].tool_calls[0].function.arguments", "string", 1_048_576), LONG],
    [tooLong("input[3].output", "string", 10_485_760), LONG],
    [tooLong("instructions", "string", 10_485_760), LONG],
    [
      "Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2100 instead.",
      MANY,
    ],
  ])("but this one a summary makes shorter: %s", (text, code) => {
    expect(judged(text, [code])).toEqual({ kind: "context_too_large", isRetryable: false });
  });
});
