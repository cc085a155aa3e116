/**
 * Recorded streams and refusals of Gemini, byte for byte through the real SDK: exactly these parts, or this failure.
 */
import { afterEach, describe, expect, test } from "vitest";
import type { ChatFailure } from "../../../src/domain/common/failures.js";
import { ModelCallError } from "../../../src/domain/common/failures.js";
import type { JsonValue } from "../../../src/domain/common/json.js";
import { createProvider } from "../../../src/providers/registry.js";
import type { ModelStreamPart } from "../../../src/providers/types.js";
import { type Chunk, type ReplayServer, serveStream } from "./replay-server.js";
import { ANSWER_CASES } from "../streams/google/answers.js";
import { MODEL } from "../streams/google/events.js";
import { FRAMING_CASES } from "../streams/google/framing.js";
import { REQUEST } from "../support.js";

const servers: ReplayServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function replay(chunks: Chunk[], headers?: Record<string, string>, status?: number) {
  const server = await serveStream(chunks, headers, status);
  servers.push(server);
  const provider = await createProvider({
    kind: "google",
    openaiApi: "responses",
    displayName: "Acme",
    apiKey: "secret-key",
    baseUrl: server.url,
  });
  const parts: ModelStreamPart[] = [];
  try {
    const request = { ...REQUEST, model: MODEL };
    for await (const part of provider.stream(request, new AbortController().signal)) parts.push(part);
    return { parts, error: undefined };
  } catch (error) {
    return { parts, error };
  }
}

function expectFailure(error: unknown, expected: Partial<ChatFailure>): void {
  expect(error).toBeInstanceOf(ModelCallError);
  const { failure } = error as ModelCallError;
  expect(failure).toEqual({
    provider: "google",
    message: expect.stringContaining("Acme"),
    ...(failure.detail === undefined ? {} : { detail: failure.detail }),
    ...expected,
  });
}

describe("a stream of Gemini's with", () => {
  test.each([...FRAMING_CASES, ...ANSWER_CASES])("$name", async ({ chunks, parts, failure }) => {
    const seen = await replay(chunks);
    expect(seen.parts).toEqual(parts);
    if (failure === undefined) expect(seen.error).toBeUndefined();
    else expectFailure(seen.error, failure);
  });
});

test("made-up ids differ in the whole chat", async () => {
  const { chunks } = ANSWER_CASES.find(({ name }) => name === "calls without ids") ?? { chunks: [] };
  const answers = [await replay(chunks), await replay(chunks)];
  const ids = answers.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])),
  );
  expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
});

describe("a refusal of Gemini's", () => {
  const quota = "You exceeded your current quota, please check your plan and billing details.";
  const details = (quotaId: string, retryDelay: string) => [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
    { "@type": "type.googleapis.com/google.rpc.Help", links: [{ url: "https://ai.google.dev/rate-limits" }] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
  ];
  const refusal = (code: number, status: string, message: string, more: object = {}): JsonValue => ({
    error: { code, message, status, ...more },
  });
  const cases: [
    string,
    { status: number; body: JsonValue; headers?: Record<string, string> },
    Partial<ChatFailure>,
    { retryAfterMs?: number; contextLimit?: number },
  ][] = [
    [
      "for a used-up minute, which speaks of billing all the same",
      {
        status: 429,
        body: refusal(429, "RESOURCE_EXHAUSTED", quota, {
          details: details("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "3.2s"),
        }),
      },
      { kind: "rate_limited", isRetryable: true, detail: quota },
      { retryAfterMs: 3_200 },
    ],
    [
      "for a used-up day",
      {
        status: 429,
        body: refusal(429, "RESOURCE_EXHAUSTED", quota, {
          details: details("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "40s"),
        }),
      },
      { kind: "billing", isRetryable: false, detail: quota },
      { retryAfterMs: 40_000 },
    ],
    [
      "for a plan without the model",
      {
        status: 429,
        body: refusal(429, "RESOURCE_EXHAUSTED", `${quota} * Quota exceeded, limit: 0, model: x`),
      },
      { kind: "billing", isRetryable: false },
      {},
    ],
    [
      "for too many requests, without a reason",
      {
        status: 429,
        body: refusal(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
        headers: { "retry-after": "2" },
      },
      { kind: "rate_limited", isRetryable: true },
      { retryAfterMs: 2_000 },
    ],
    [
      "for a wrong key",
      {
        status: 400,
        body: refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", {
          details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
        }),
      },
      { kind: "auth", isRetryable: false },
      {},
    ],
    [
      "for a key that may not",
      { status: 403, body: refusal(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.") },
      { kind: "auth", isRetryable: false },
      {},
    ],
    [
      "for an unknown model",
      { status: 404, body: refusal(404, "NOT_FOUND", "models/x is not found for API version v1beta.") },
      { kind: "config", isRetryable: false },
      {},
    ],
    [
      "for a prompt that is too long, with the model's limit",
      {
        status: 400,
        body: refusal(
          400,
          "INVALID_ARGUMENT",
          "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
      },
      { kind: "context_too_large", isRetryable: false },
      { contextLimit: 1_048_576 },
    ],
    [
      "for a request that makes no sense",
      { status: 400, body: refusal(400, "INVALID_ARGUMENT", "Unknown name 'x'.") },
      { kind: "generic", isRetryable: false },
      {},
    ],
    [
      "for an overloaded model",
      { status: 503, body: refusal(503, "UNAVAILABLE", "The model is overloaded.") },
      { kind: "overloaded", isRetryable: true },
      {},
    ],
    [
      "for a deadline",
      { status: 504, body: refusal(504, "DEADLINE_EXCEEDED", "Deadline expired.") },
      { kind: "timeout", isRetryable: true },
      {},
    ],
    [
      "for an internal error",
      { status: 500, body: refusal(500, "INTERNAL", "An internal error has occurred.") },
      { kind: "generic", isRetryable: true },
      {},
    ],
    [
      "in a list of one",
      { status: 429, body: [refusal(429, "RESOURCE_EXHAUSTED", "Slow down.")] },
      { kind: "rate_limited", isRetryable: true, detail: "Slow down." },
      {},
    ],
    [
      "in a body that is no JSON although it says so",
      { status: 503, body: "<html>Oops" },
      { kind: "timeout", isRetryable: true },
      {},
    ],
    [
      "in a body that holds something else",
      { status: 502, body: { message: "bad gateway" } },
      { kind: "timeout", isRetryable: true },
      {},
    ],
  ];
  test.each(cases)("%s", async (_name, { status, body, headers }, failure, more) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const { parts, error } = await replay([text], { "content-type": "application/json", ...headers }, status);
    expect(parts).toEqual([]);
    expectFailure(error, { httpStatus: status, ...failure });
    expect(error).toMatchObject({ retryAfterMs: undefined, contextLimit: undefined, ...more });
  });

  test("as a page shows no page", async () => {
    const { error } = await replay(["<html><body>Bad</body></html>"], { "content-type": "text/html" }, 502);
    expect((error as ModelCallError).failure).toEqual({
      kind: "timeout",
      isRetryable: true,
      httpStatus: 502,
      provider: "google",
      message: expect.stringContaining("Acme"),
    });
  });
});
