import { expect, test } from "vitest";
import type { ModelRequest } from "../../providers/types.js";
import { MAX_REQUEST_BYTES, MAX_RESPONSE_BYTES, type RecordedCall, recordOf } from "./recorded-call.js";

const request: ModelRequest = {
  model: "m-1",
  system: "Be kind.",
  messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
  tools: [],
  maxOutputTokens: 100,
};
const usage = {
  ...{ inputTokens: 1, outputTokens: 2, reasoningTokens: 0 },
  ...{ cacheReadTokens: 0, cacheWriteTokens: 0 },
};
const call: RecordedCall = {
  ...{ chatId: "c", generation: "1.1", attempt: 1, purpose: "step", provider: "anthropic", request },
  ...{ startedAt: 1_000, firstPartMs: 5, durationMs: 10 },
  outcome: {
    ...{ type: "completed", parts: [{ type: "text", text: "Hi" }], usage },
    ...{ finishReason: "stop", responseId: "r" },
  },
};

test("a record has what was asked and answered, and when", () => {
  expect(recordOf(call)).toEqual({
    ...{ chatId: "c", generation: "1.1", attempt: 1, purpose: "step", provider: "anthropic", model: "m-1" },
    ...{
      startedAt: new Date(1_000),
      firstPartMs: 5,
      durationMs: 10,
      outcome: "completed",
      isTruncated: false,
    },
    request: { ...request },
    response: { parts: [{ type: "text", text: "Hi" }], usage, finishReason: "stop", responseId: "r" },
  });
});

test("headers and options that may open something are not in it, nor bytes of files", () => {
  const options = {
    effort: "high",
    thinkingBudgetTokens: 5,
    apiKey: "hush",
    nested: { extra_headers: { a: "hush" }, list: [{ Authorization: "hush" }, "x"] },
    password: null,
  };
  const files = new Map([["f1", Buffer.from("hush")]]);
  const record = recordOf({ ...call, request: { ...request, options, files, headers: { "x-key": "hush" } } });
  expect(record.request).toEqual({
    ...request,
    options: {
      effort: "high",
      thinkingBudgetTokens: 5,
      apiKey: "[not recorded]",
      nested: { extra_headers: "[not recorded]", list: [{ Authorization: "[not recorded]" }, "x"] },
      password: "[not recorded]",
    },
    files: [{ fileId: "f1", bytes: 4 }],
  });
});

test("a failure is recorded with the message that users see, without its cause", () => {
  const failure = { kind: "auth", message: "No.", isRetryable: false } as const;
  const unreported = { retryAfterMs: undefined, contextLimit: undefined, cause: new Error("hush") };
  const outcome = { type: "failed" as const, failure, parts: [], usage: null, ...unreported };
  const { response, outcome: word } = recordOf({ ...call, outcome });
  expect([word, response]).toEqual([
    "failed",
    { parts: [], usage: null, failure, retryAfterMs: null, contextLimit: null },
  ]);
});

test("what is too large loses its middle, and says so", () => {
  const long = "x".repeat(MAX_REQUEST_BYTES * 2);
  const asked = recordOf({ ...call, request: { ...request, system: long } });
  const outcome = { type: "stopped" as const, parts: [{ type: "text" as const, text: long }], usage: null };
  const answered = recordOf({ ...call, outcome });
  const sizes = [asked.request, answered.response].map((json) => Buffer.byteLength(JSON.stringify(json)));
  expect([asked.isTruncated, answered.isTruncated]).toEqual([true, true]);
  expect(sizes[0]).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  expect(sizes[1]).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
  expect(asked.request).toMatchObject({ model: "m-1", messages: request.messages });
});
