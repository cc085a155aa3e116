/** Conformance tests for every wire format: aborts, refusals, broken streams and silence. */
import { describe, expect, test } from "vitest";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { JsonObject, JsonValue } from "../../src/domain/common/json.js";
import { type Clock, systemClock } from "../../src/lib/clock.js";
import { createProvider } from "../../src/providers/registry.js";
import type { ProviderSettings } from "../../src/providers/types.js";
import { FINISHED_GRACE_MS } from "../../src/providers/common/watchdog.js";
import { collect, connect, REQUEST, textOf, until, WIRES } from "./support.js";

const LOGIN_PAGE = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>secret-key</body></html>";

describe.each(WIRES)("$wire", (row) => {
  const { start, runStep, failureOf, failure, isAnthropic } = connect(row);

  test("an abort in the middle just ends the stream and frees the vendor", async () => {
    const { provider, demo } = await start([{ text: ["a", "b"], hang: 2 }]);
    const controller = new AbortController();
    const seen: string[] = [];
    for await (const part of provider.stream(REQUEST, controller.signal)) {
      if (part.type === "text-delta") seen.push(part.text);
      if (seen.length === 2) controller.abort();
    }
    expect({ seen, requests: demo.requests.length }).toEqual({ seen: ["a", "b"], requests: 1 });
  });

  test("an abort while nothing comes ends the wait", async () => {
    const { run, demo } = await start([{ hang: "before-headers" }]);
    const controller = new AbortController();
    const running = run(REQUEST, controller.signal);
    await until(() => demo.requests.length === 1);
    controller.abort();
    expect(await running).toEqual([]);
  });

  test("a call that was aborted before it began sends nothing", async () => {
    const { run, demo } = await start([]);
    expect(await run(REQUEST, AbortSignal.abort())).toEqual([]);
    expect(demo.requests).toEqual([]);
  });

  test("429 is a rate limit, asked only once, with the vendor's retry delay", async () => {
    const { run, demo } = await start([
      { error: { status: 429, message: "slow down", headers: { "retry-after": "7" } } },
    ]);
    await expect(run()).rejects.toMatchObject({
      retryAfterMs: 7_000,
      failure: failure({ kind: "rate_limited", httpStatus: 429, isRetryable: true, detail: "slow down" }),
    });
    expect(demo.requests).toHaveLength(1);
  });

  test.each([
    { step: { error: { status: 529, type: "overloaded_error" } }, kind: "overloaded", isRetryable: true },
    { step: { error: { status: 503 } }, kind: "timeout", isRetryable: true },
    {
      step: { error: { status: 502, body: "<html><body>Bad Gateway</body></html>" } },
      kind: "timeout",
      isRetryable: true,
    },
    { step: { error: { status: 500 } }, kind: "generic", isRetryable: true },
    { step: { error: { status: 401, message: "bad key secret-key" } }, kind: "auth", isRetryable: false },
    { step: { error: { status: 402 } }, kind: "billing", isRetryable: false },
    { step: { error: { status: 404, message: "model: nope" } }, kind: "config", isRetryable: false },
    { step: { error: { status: 400, message: "odd field" } }, kind: "generic", isRetryable: false },
    {
      step: { error: { status: 400, message: "prompt is too long: 210000 tokens" } },
      kind: "context_too_large",
      isRetryable: false,
    },
    { step: { error: { status: 429, type: "insufficient_quota" } }, kind: "billing", isRetryable: false },
  ] as const)(
    "HTTP $step.error.status ($kind) is understood",
    async ({ step, kind: expected, isRetryable }) => {
      const error = await failureOf(step);
      expect(error.failure).toEqual(failure({ kind: expected, isRetryable, httpStatus: step.error.status }));
      expect(JSON.stringify(error.failure)).not.toMatch(/secret-key|<html/);
      expect(error.cause).toBeInstanceOf(Error);
    },
  );

  test("an error event after 200 is recognised by its type", async () => {
    const error = await failureOf({
      text: ["a"],
      streamError: { type: "overloaded_error", message: "Overloaded" },
    });
    expect(error.failure).toEqual(failure({ kind: "overloaded", isRetryable: true, detail: "Overloaded" }));
    expect(error.failure.message).toContain("It says: Overloaded");
    expect(error.failure.httpStatus).toBeUndefined();
  });

  test.each<ScriptStep>([
    { text: ["a", "b", "c"], cutAfterDeltas: 2 },
    { text: ["a", "b", "c"], endAfterDeltas: 2 },
  ])("a stream cut in the middle is a failure worth a retry (%j)", async (step) => {
    const { provider } = await start([step]);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const part of provider.stream(REQUEST, new AbortController().signal)) {
        if (part.type === "text-delta") seen.push(part.text);
      }
    })();
    await expect(reading).rejects.toMatchObject({ failure: failure({ kind: "timeout", isRetryable: true }) });
    expect(seen).toEqual(["a", "b"]);
  });

  // The Responses API ends with its finish reason; some gateways omit the other formats' end markers.
  test.each<ScriptStep["afterFinish"]>(["hang", "cut"])(
    "an answer with a stop reason is complete, whatever becomes of its connection (%s)",
    async (afterFinish) => {
      const parts = await runStep(
        { text: ["a", "b"], afterFinish },
        { clock: clockThatSkips(FINISHED_GRACE_MS) },
      );
      expect(textOf(parts, "text-delta")).toBe("ab");
      expect(parts.slice(-2)).toMatchObject([
        { type: "usage", usage: { inputTokens: expect.any(Number) } },
        { type: "finish", reason: "stop" },
      ]);
    },
  );

  test("numbers of tokens that are none cost nothing of the answer, and reach no caller", async () => {
    const values = [12.5, "many", "7", 3e9, -1, null, {}, [1], true, "9".repeat(400)];
    const { run } = await start(values.map((value) => ({ text: "Hello.", rawUsage: usageOf(value) })));
    const read: unknown[] = [];
    for (const _ of values) {
      const parts = await run();
      expect([textOf(parts, "text-delta"), parts.at(-1)?.type]).toEqual(["Hello.", "finish"]);
      const used = parts.findLast((part) => part.type === "usage")?.usage;
      read.push(used?.inputTokens ?? null);
      const { anomalies, ...counts } = used ?? {};
      expect(Object.values(counts).filter((count) => count !== null && !isCount(count))).toEqual([]);
      if ((used?.inputTokens ?? used?.outputTokens ?? null) === null) continue;
      expect(Object.keys(anomalies ?? {})).not.toEqual([]);
    }
    // Nothing remains of a prompt that is reported as fully cached.
    const [fraction, digits] = isAnthropic ? [13, 7] : [0, 0];
    expect(read).toEqual([fraction, null, digits, ...values.slice(3).map(() => null)]);
  });

  test("an answer without any usage is whole", async () => {
    const parts = await runStep({ text: "Hello.", rawUsage: null });
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop" });
    const used = parts.findLast((part) => part.type === "usage")?.usage;
    expect([used?.inputTokens ?? null, used?.outputTokens ?? null]).toEqual([null, null]);
  });

  test("an address where nothing listens is a wrong setting", async () => {
    const { demo, run } = await start([]);
    await demo.close();
    await expect(run()).rejects.toMatchObject({
      failure: failure({
        kind: "config",
        isRetryable: true,
        message: `Parley cannot reach ${demo.url}${row.path} (Acme): the connection was refused. Check the base URL of the provider "Acme" in the administration.`,
      }),
    });
  });

  test("a server that has answered and is gone now is an outage", async () => {
    const { demo, run } = await start([{ text: ["a"] }]);
    await run();
    await demo.close();
    await expect(run()).rejects.toMatchObject({ failure: failure({ kind: "timeout", isRetryable: true }) });
  });

  test.each([
    [200, LOGIN_PAGE, "it answers with a web page (HTTP 200), as login pages and proxies do", true],
    [403, LOGIN_PAGE, "it answers with a web page (HTTP 403), as login pages and proxies do", false],
    [404, LOGIN_PAGE, "it answers with a web page (HTTP 404), as login pages and proxies do", false],
    [404, "404 page not found", "it answers 404 Not Found to POST /", false],
    [404, { detail: "Not Found" }, "it answers 404 Not Found to POST /", false],
    [404, { error: { message: "Invalid URL (POST /x)" } }, "it answers 404 Not Found to POST /", false],
  ])("HTTP %i with %j is a wrong address", async (status, body, reason, isRetryable) => {
    const headers = {
      "content-type": typeof body === "string" ? "text/html; charset=utf-8" : "application/json",
    };
    const { failure: found } = await failureOf({ error: { status, body, headers } });
    expect(found).toEqual(failure({ kind: "config", isRetryable, httpStatus: status }));
    expect(found.message).toMatch(/^Parley cannot reach http:\/\/127\.0\.0\.1:\d+[\w/]* \(Acme\): /);
    expect(found.message).toContain(reason);
    expect(found.message).toContain('Check the base URL of the provider "Acme"');
  });

  test.each([
    ["vLLM", { object: "error", message: "Odd field.", type: "BadRequestError", code: 400 }],
    ["Ollama", { error: "Odd field." }],
    ["FastAPI", { detail: [{ loc: ["body", "x"], msg: "Odd field.", input: "what I said" }] }],
    ["AWS and Kong", { message: "Odd field." }],
    ["RFC 9457", { title: "Bad Request", status: 400, detail: "Odd field." }],
    [
      "OpenRouter",
      {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: '{"error":{"message":"Odd field."}}' },
        },
      },
    ],
    ["a list", [{ error: { code: 400, message: "Odd field.", status: "INVALID_ARGUMENT" } }]],
    ["plain text", "Odd field."],
  ])("the message in an error of %s is shown", async (_, body) => {
    const headers = { "content-type": typeof body === "string" ? "text/plain" : "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const { failure: found } = await failureOf({ error: { status: 400, body: text, headers } });
    expect(found.message).toMatch(
      /^The request to Acme failed \(HTTP 400\)\. It says: (body\.x: )?Odd field\.$/,
    );
  });

  test.each(["before-headers", "before-events"] as const)("silence %s is a startup timeout", async (hang) => {
    const error = await failureOf({ hang }, { startupTimeoutMs: 40 });
    expect(error.failure).toEqual(failure({ kind: "startup_timeout", isRetryable: true }));
  });

  test("silence in the middle is a stalled stream", async () => {
    const error = await failureOf({ text: ["a"], hang: 1 }, { stallTimeoutMs: 40 });
    expect(error.failure).toEqual(failure({ kind: "stream_stalled", isRetryable: true }));
  });
});

test("the vendor's own address is not called without a key", async () => {
  // A compatible server may need no key, and Bedrock uses AWS credentials.
  const keyed = WIRES.filter(({ kind }) => kind !== "openai_compatible" && kind !== "bedrock");
  for (const { kind, openaiApi } of keyed) {
    const settings: ProviderSettings = {
      kind,
      openaiApi,
      baseUrl: undefined,
      displayName: "Acme",
      apiKey: "",
    };
    const provider = await createProvider(settings);
    await expect(collect(provider.stream(REQUEST, new AbortController().signal))).rejects.toMatchObject({
      failure: {
        kind: "missing_key",
        isRetryable: false,
        provider: kind,
        message: "There is no API key for Acme. Add one and try again.",
      },
    });
  }
});

/** The usage fields of every vendor with this value; each vendor's adapter reads its own. */
function usageOf(value: JsonValue): JsonObject {
  const all = (...names: string[]) => Object.fromEntries(names.map((name) => [name, value]));
  return {
    ...all("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ...all("prompt_tokens", "completion_tokens", "total_tokens"),
    ...all("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount"),
    input_tokens_details: all("cached_tokens"),
    prompt_tokens_details: all("cached_tokens"),
    output_tokens_details: all("reasoning_tokens", "thinking_tokens"),
    completion_tokens_details: all("reasoning_tokens"),
  };
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31;
}

/** The system clock, except that a wait of `ms` ends at once. */
function clockThatSkips(ms: number): Clock {
  let skipped = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + skipped,
    after: (wait, callback) =>
      systemClock.after(wait === ms ? 0 : wait, () => {
        if (wait === ms) skipped += ms;
        callback();
      }),
  };
}
