import { describe, expect, test } from "vitest";
import { ModelCallError } from "../../domain/common/failures.js";
import { type ErrorEvidence, classifyError } from "./error-rules.js";
import { parseRetryAfter, StreamFailure, toModelCallError } from "./errors.js";
import type { ProviderSettings } from "../types.js";

const SETTINGS: ProviderSettings = {
  kind: "openai",
  displayName: "OpenAI",
  apiKey: "sk-mine-12345678",
  baseUrl: undefined,
  openaiApi: "chat",
};

describe("classifyError", () => {
  const cases: [Partial<ErrorEvidence>, string, boolean][] = [
    [{ httpStatus: 529 }, "overloaded", true],
    [{ codes: ["overloaded_error"] }, "overloaded", true],
    [{ httpStatus: 503, text: "the server is overloaded or not ready yet" }, "overloaded", true],
    [{ httpStatus: 413 }, "context_too_large", false],
    [{ httpStatus: 400, codes: ["context_length_exceeded"] }, "context_too_large", false],
    [
      { httpStatus: 400, text: "this model's maximum context length is 8192 tokens" },
      "context_too_large",
      false,
    ],
    [
      { httpStatus: 400, text: "input length and `max_tokens` exceed context limit" },
      "context_too_large",
      false,
    ],
    [
      { text: "this model's maximum prompt length is 131072 but the request contains 150000" },
      "context_too_large",
      false,
    ],
    [{ text: "the request exceeds the available context size (4096 tokens)" }, "context_too_large", false],
    [
      { text: "your request exceeded model token limit: 262144 (requested: 300000)" },
      "context_too_large",
      false,
    ],
    [
      { text: "prompt contains 9 tokens, too large for model with 8 maximum context length" },
      "context_too_large",
      false,
    ],
    [{ text: "prompt too long; exceeded max context length by 100 tokens" }, "context_too_large", false],
    [{ httpStatus: 402 }, "billing", false],
    [
      {
        httpStatus: 429,
        codes: ["resource_exhausted"],
        text: "you exceeded your current quota, check your billing",
      },
      "rate_limited",
      true,
    ],
    [{ httpStatus: 400, text: "api key not valid. please pass a valid api key." }, "auth", false],
    [{ codes: ["unauthenticated"] }, "auth", false],
    [{ codes: ["unavailable"] }, "timeout", true],
    [{ codes: ["deadline_exceeded"] }, "timeout", true],
    [{ codes: ["internal"] }, "generic", true],
    [{ codes: ["malformed_function_call"] }, "generic", true],
    [{ text: "unexpected end of json input" }, "generic", true],
    [{ httpStatus: 429, codes: ["insufficient_quota"] }, "billing", false],
    [{ httpStatus: 400, text: "your credit balance is too low to access the api" }, "billing", false],
    [{ httpStatus: 401 }, "auth", false],
    [{ httpStatus: 400, text: "invalid x-api-key" }, "auth", false],
    [{ httpStatus: 403 }, "auth", false],
    [{ httpStatus: 403, codes: ["model_not_found"] }, "config", false],
    [{ httpStatus: 404, codes: ["deploymentnotfound"] }, "config", false],
    [{ httpStatus: 400, codes: ["operationnotsupported"] }, "config", false],
    [
      { httpStatus: 400, codes: ["content_filter", "responsibleaipolicyviolation"] },
      "content_filtered",
      false,
    ],
    [{ httpStatus: 429 }, "rate_limited", true],
    [{ codes: ["rate_limit_exceeded"] }, "rate_limited", true],
    [{ httpStatus: 429, text: "unknown model gpt-9" }, "config", false],
    [{ httpStatus: 404, text: "the model `gpt-9` does not exist" }, "config", false],
    [{ httpStatus: 404 }, "config", false],
    [{ httpStatus: 400, codes: ["content_policy_violation"] }, "content_filtered", false],
    [{ httpStatus: 408 }, "timeout", true],
    [{ httpStatus: 502 }, "timeout", true],
    [{ httpStatus: 503 }, "timeout", true],
    [{ httpStatus: 522 }, "timeout", true],
    [{ text: "terminated" }, "timeout", true],
    [{ codes: ["econnrefused"], text: "connection error.\nfetch failed" }, "timeout", true],
    [{ codes: ["cert_has_expired"], text: "connection error.\nfetch failed" }, "config", false],
    [{ codes: ["err_invalid_url"], text: "invalid url" }, "config", false],
    [{ httpStatus: 500 }, "generic", true],
    [{ httpStatus: 599 }, "generic", true],
    [{ codes: ["api_error"] }, "generic", true],
    [{ httpStatus: 409 }, "generic", true],
    [{ httpStatus: 400, text: "something odd" }, "generic", false],
    [{ httpStatus: 422 }, "generic", false],
    [
      {
        httpStatus: 429,
        codes: ["throttlingexception"],
        text: "too many tokens, please wait before trying again.",
      },
      "rate_limited",
      true,
    ],
    [{ text: "too many tokens per day, please wait before trying again." }, "rate_limited", true],
    [{ httpStatus: 400, codes: ["servicequotaexceededexception"] }, "rate_limited", true],
    [{ httpStatus: 429, codes: ["modelnotreadyexception"] }, "overloaded", true],
    [{ codes: ["modeltimeoutexception"] }, "timeout", true],
    [{ codes: ["serviceunavailableexception"] }, "timeout", true],
    [{ httpStatus: 424, codes: ["modelerrorexception"] }, "generic", true],
    [{ codes: ["modelstreamerrorexception"] }, "generic", true],
    [{ codes: ["internalserverexception"] }, "generic", true],
    [
      {
        httpStatus: 400,
        codes: ["validationexception"],
        text: "input is too long for requested model.",
      },
      "context_too_large",
      false,
    ],
    [
      { httpStatus: 400, codes: ["validationexception"], text: "the provided model identifier is invalid." },
      "config",
      false,
    ],
    [
      {
        httpStatus: 400,
        codes: ["validationexception"],
        text: "invocation of model id x with on-demand throughput isn’t supported.",
      },
      "config",
      false,
    ],
    [{ httpStatus: 400, codes: ["validationexception"], text: "malformed input request" }, "generic", false],
    [{ text: "truncated event message received." }, "timeout", true],
    [{ text: "the message checksum (1) did not match the expected value of 2" }, "generic", true],
    [{ httpStatus: 403, codes: ["accessdeniedexception"] }, "auth", false],
    [{ codes: ["accessdeniedexception"] }, "auth", false],
    [{ httpStatus: 403, codes: ["expiredtokenexception"] }, "auth", false],
    [{ httpStatus: 404, codes: ["resourcenotfoundexception"] }, "config", false],
    [
      { text: "failed to resolve aws credentials from the credential provider chain.\nimds timed out" },
      "auth",
      false,
    ],
    [{}, "generic", false],
  ];
  test.each(cases)("%j is %s, retry: %s", (evidence, kind, isRetryable) => {
    expect(classifyError({ codes: [], text: "", ...evidence })).toEqual({ kind, isRetryable });
  });
});

describe("parseRetryAfter", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const cases: [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ "retry-after": "7" }, 7_000],
    [{ "Retry-After": "0.5" }, 500],
    [{ "retry-after": "7", "retry-after-ms": "1200.4" }, 1_201],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:30 GMT" }, undefined],
    [{ "retry-after": "3", "retry-after-ms": "x" }, 3_000],
  ];
  test.each(cases)("%j is %s ms", (headers, expected) => {
    expect(parseRetryAfter(new Headers(headers), now)).toBe(expected);
  });
});

describe("toModelCallError", () => {
  test("keys do not reach the reader", () => {
    const error = toModelCallError(new Error("bad key sk-mine-12345678, or sk-other-99999999"), SETTINGS, 0);
    expect(error.failure.detail).toBe("bad key [key], or [key]");
  });

  test("a page of HTML is not shown, long words are cut", () => {
    expect(toModelCallError(new Error("<!DOCTYPE html><p>no"), SETTINGS, 0).failure.detail).toBeUndefined();
    const cut = toModelCallError(new Error("x".repeat(9_999)), SETTINGS, 0).failure.detail;
    expect(cut).toBe(`${"x".repeat(497)}…`);
  });

  test.each([undefined, null, "text", 7, {}, { error: null }, new Error("")])(
    "%j becomes a failure",
    (thrown) => {
      expect(toModelCallError(thrown, SETTINGS, 0)).toMatchObject({
        failure: {
          kind: "generic",
          isRetryable: false,
          provider: "openai",
          message: "The request to OpenAI failed.",
        },
      });
    },
  );

  test("a cause that leads to itself is no trap", () => {
    const error = new Error("round");
    error.cause = error;
    expect(toModelCallError(error, SETTINGS, 0).failure.detail).toBe("round");
  });

  test("a failure reported inside the stream is recognised by its code", () => {
    const error = toModelCallError(new StreamFailure("rate_limit_exceeded", "slow"), SETTINGS, 0);
    expect(error.failure).toEqual({
      kind: "rate_limited",
      message: "OpenAI is limiting the rate of requests.",
      detail: "slow",
      provider: "openai",
      isRetryable: true,
    });
  });

  test("words that are wrapped in JSON are unwrapped", () => {
    const wrapped = new StreamFailure("brandNewException", '{"message":"Who knows."}');
    expect(toModelCallError(wrapped, SETTINGS, 0).failure.detail).toBe("Who knows.");
    expect(toModelCallError(new StreamFailure("x", "{odd"), SETTINGS, 0).failure.detail).toBe("{odd");
  });

  test("AWS's own name of an error is read from its header", () => {
    const headers = new Headers({
      "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/",
    });
    const error = Object.assign(new Error("400 odd"), { status: 400, headers, error: { message: "odd" } });
    expect(toModelCallError(error, SETTINGS, 0).failure).toMatchObject({
      kind: "rate_limited",
      detail: "odd",
    });
  });

  test("an error that is classified already passes through", () => {
    const error = new ModelCallError({ kind: "internal", message: "x", isRetryable: false }, undefined);
    expect(toModelCallError(error, SETTINGS, 0)).toBe(error);
  });
});
