/** The same battery for every wire format: the real SDK adapters against the scripted demo model over loopback. */
import { afterEach, describe, expect, test } from "vitest";
import type { ChatFailure } from "../../src/domain/failures.js";
import { ModelCallError } from "../../src/domain/failures.js";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { Script } from "../../src/demo-model/script.js";
import { type DemoModel, startDemoModel } from "../../src/demo-model/server.js";
import { createProvider } from "../../src/providers/registry.js";
import type { ModelRequest, ModelStreamPart, ProviderSettings } from "../../src/providers/types.js";
import type { StreamLimits } from "../../src/providers/watchdog.js";

const WIRES = [
  { wire: "anthropic", kind: "anthropic", openaiApi: "responses", path: "" },
  { wire: "openai-responses", kind: "openai", openaiApi: "responses", path: "/v1" },
  { wire: "openai-chat", kind: "openai", openaiApi: "chat", path: "/v1" },
  { wire: "openai-chat (compatible)", kind: "openai_compatible", openaiApi: "chat", path: "" },
] as const;

const REQUEST: ModelRequest = {
  model: "some-model",
  system: "Be brief.",
  messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
  tools: [
    {
      name: "execute",
      description: "Runs a command.",
      inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    },
  ],
  maxOutputTokens: 4_000,
};

const demos: DemoModel[] = [];
afterEach(async () => {
  await Promise.all(demos.splice(0).map((demo) => demo.close()));
});

describe.each(WIRES)("$wire", ({ wire, kind, openaiApi, path }) => {
  const isAnthropic = wire === "anthropic";
  const isResponses = wire === "openai-responses";
  const isChat = !isAnthropic && !isResponses;

  const start = async (script: Script, limits: Partial<StreamLimits> = {}) => {
    const demo = await startDemoModel({ host: "127.0.0.1", port: 0, script });
    demos.push(demo);
    const baseUrl = demo.url + path;
    const settings: ProviderSettings = {
      kind,
      openaiApi,
      baseUrl,
      displayName: "Acme",
      apiKey: "secret-key",
    };
    const provider = await createProvider(settings, limits);
    const run = (request = REQUEST, signal = new AbortController().signal) =>
      collect(provider.stream(request, signal));
    return { demo, provider, run };
  };
  const runStep = async (step: ScriptStep, limits?: Partial<StreamLimits>) =>
    (await start([step], limits)).run();
  const failureOf = async (step: ScriptStep, limits?: Partial<StreamLimits>) => {
    const { run } = await start([step], limits);
    const error = await run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ModelCallError)) throw new Error("expected a ModelCallError", { cause: error });
    return error;
  };
  const failure = (fields: Partial<ChatFailure>): unknown =>
    expect.objectContaining({ provider: kind, message: expect.stringContaining("Acme"), ...fields });

  test("text comes in its deltas, then the usage, then the finish", async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 7,
      reasoningTokens: 2,
      cacheReadTokens: 5,
      cacheWriteTokens: 0,
    };
    const parts = await runStep({ text: ["Hel", "lo ", "wörld 🌍"], usage });
    expect(parts.filter(({ type }) => type !== "usage")).toEqual([
      { type: "text-delta", text: "Hel" },
      { type: "text-delta", text: "lo " },
      { type: "text-delta", text: "wörld 🌍" },
      { type: "finish", reason: "stop" },
    ]);
    expect(parts.findLast(({ type }) => type === "usage")).toEqual({ type: "usage", usage });
  });

  test.runIf(!isChat)("tokens written to the cache are counted apart", async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 7,
      reasoningTokens: 0,
      cacheReadTokens: 5,
      cacheWriteTokens: 90,
    };
    const parts = await runStep({ text: "hi", usage });
    expect(parts.findLast(({ type }) => type === "usage")).toEqual({ type: "usage", usage });
  });

  test("the request carries model, system, tools, history, limits and headers", async () => {
    const { demo, run } = await start([{ text: "hi" }]);
    await run({ ...REQUEST, headers: { "Parley-Chat-Id": "chat-1" } });
    const [seen] = demo.requests;
    expect(seen).toMatchObject({
      model: "some-model",
      system: "Be brief.",
      isStreaming: true,
      wantsUsage: true,
      turns: [{ role: "user", text: "hello" }],
      tools: REQUEST.tools.map(({ name, inputSchema }) => ({ name, inputSchema })),
    });
    expect(seen?.headers["parley-chat-id"]).toBe("chat-1");
    expect(seen?.headers.authorization).toBe("Bearer secret-key");
    const limitName = isResponses
      ? "max_output_tokens"
      : wire === "openai-chat"
        ? "max_completion_tokens"
        : "max_tokens";
    expect(seen?.body[limitName]).toBe(4_000);
  });

  test("reasoning is closed before the text, and goes back with what its vendor attached", async () => {
    const { demo, run } = await start([{ reasoning: "I think so", text: "yes" }, { text: "done" }]);
    const parts = await run();
    expect(textOf(parts, "reasoning-delta")).toBe("I think so");
    const end = parts.find(({ type }) => type === "reasoning-end");
    if (end?.type !== "reasoning-end") throw new Error("no reasoning-end");
    expect(parts.indexOf(end)).toBeLessThan(parts.findIndex(({ type }) => type === "text-delta"));
    await run({
      ...REQUEST,
      messages: [
        ...REQUEST.messages,
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "I think so", providerMetadata: end.providerMetadata },
            { type: "text", text: "yes" },
          ],
        },
        { role: "user", parts: [{ type: "text", text: "sure?" }] },
      ],
    });
    const sent = JSON.stringify(demo.requests[1]?.body);
    const encoded = Buffer.from("demo:I think so").toString("base64");
    if (isAnthropic)
      expect(sent).toContain(`{"type":"thinking","thinking":"I think so","signature":"${encoded}"}`);
    if (isResponses) expect(sent).toContain(`"encrypted_content":"${encoded}"`);
    if (isChat) expect(sent).not.toContain("I think so");
  });

  test.runIf(!isChat)("reasoning that the vendor hides still goes back", async () => {
    const { demo, run } = await start([
      { reasoning: { text: "hidden", isRedacted: true }, text: "yes" },
      { text: "ok" },
    ]);
    const end = (await run()).find((part) => part.type === "reasoning-end");
    if (end === undefined) throw new Error("no reasoning-end");
    expect(end).toEqual({
      type: "reasoning-end",
      ...(isAnthropic ? { isRedacted: true } : {}),
      providerMetadata: expect.anything(),
    });
    const { providerMetadata } = end;
    await run({
      ...REQUEST,
      messages: [
        {
          role: "assistant",
          parts: [
            { type: "reasoning", text: "", isRedacted: true, providerMetadata },
            { type: "text", text: "yes" },
          ],
        },
        { role: "user", parts: [{ type: "text", text: "sure?" }] },
      ],
    });
    expect(JSON.stringify(demo.requests[1]?.body)).toContain(
      isAnthropic ? '"redacted_thinking"' : '"encrypted_content"',
    );
  });

  test("a tool call streams its arguments and then comes whole", async () => {
    const args = { command: "echo 'a rather long command, so that it needs several pieces' 🌍" };
    const parts = await runStep({
      text: "ok",
      toolCalls: [{ id: "call_1", name: "execute", arguments: args }],
    });
    const deltas = parts.filter((part) => part.type === "tool-input-delta");
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map(({ delta }) => delta).join("")).toBe(JSON.stringify(args));
    expect(new Set(deltas.map(({ toolCallId, toolName }) => `${toolCallId} ${toolName}`))).toEqual(
      new Set(["call_1 execute"]),
    );
    expect(parts.slice(-3).filter(({ type }) => type !== "usage")).toEqual([
      { type: "tool-call", toolCallId: "call_1", toolName: "execute", arguments: args },
      { type: "finish", reason: "tool-calls" },
    ]);
  });

  test("two parallel tool calls keep their order and their own arguments", async () => {
    const toolCalls = ["a", "b"].map((id) => ({
      id,
      name: "execute",
      arguments: { command: `echo ${id} and more` },
    }));
    const parts = await runStep({ toolCalls });
    expect(parts.filter(({ type }) => type === "tool-call")).toEqual(
      toolCalls.map(({ id, name, arguments: args }) => ({
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        arguments: args,
      })),
    );
  });

  test.each(["{broken", "[1]", '"text"', ""])(
    "tool arguments %j, which are no object, become {}",
    async (raw) => {
      const parts = await runStep({ toolCalls: [{ id: "a", name: "execute", arguments: raw }] });
      expect(parts.find(({ type }) => type === "tool-call")).toEqual({
        type: "tool-call",
        toolCallId: "a",
        toolName: "execute",
        arguments: {},
      });
    },
  );

  test("calls and results go back as pairs, errors marked", async () => {
    const { demo, run } = await start([{ text: "done" }]);
    const call = { toolCallId: "we.ird/id", toolName: "execute" };
    await run({
      ...REQUEST,
      messages: [
        ...REQUEST.messages,
        { role: "assistant", parts: [{ type: "tool-call", ...call, arguments: { command: "ls" } }] },
        { role: "tool", parts: [{ type: "tool-result", ...call, result: { error: "no" }, isError: true }] },
      ],
    });
    expect(demo.requests[0]?.turns).toEqual([
      { role: "user", text: "hello" },
      {
        role: "assistant",
        text: "",
        calls: [{ id: "we_ird_id", name: "execute", arguments: { command: "ls" } }],
      },
      { role: "results", results: [{ id: "we_ird_id", text: '{"error":"no"}', isError: true }] },
    ]);
  });

  test.each([
    ["length", "length"],
    ["content-filter", "content-filter"],
  ] as const)("the finish reason %s is told", async (finish, reason) => {
    expect((await runStep({ text: "hm", finish })).at(-1)).toEqual({ type: "finish", reason });
  });

  test("a search of the vendor's own and its sources are told", async () => {
    const pages = [{ url: "https://example.com/a", title: "A" }];
    const parts = await runStep({ search: { query: "why", pages }, text: "because" });
    expect(parts.filter(({ type }) => type === "source")).toEqual([
      { type: "source", url: "https://example.com/a", title: "A" },
    ]);
    if (isChat) return;
    const vendorParts = parts.filter(({ type }) => type === "tool-call" || type === "tool-result");
    expect(vendorParts).toEqual([
      expect.objectContaining({
        toolName: "web_search",
        arguments: { query: "why" },
        isProviderExecuted: true,
      }),
      expect.objectContaining({ toolName: "web_search", isError: false, isProviderExecuted: true }),
    ]);
  });

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

  test("a call that was aborted before it began asks nobody", async () => {
    const { run, demo } = await start([]);
    expect(await run(REQUEST, AbortSignal.abort())).toEqual([]);
    expect(demo.requests).toEqual([]);
  });

  test("429 is a rate limit, asked only once, with the vendor's wish to wait", async () => {
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

  test("an error event after 200 is told by its type", async () => {
    const error = await failureOf({
      text: ["a"],
      streamError: { type: "overloaded_error", message: "Overloaded" },
    });
    expect(error.failure).toEqual(failure({ kind: "overloaded", isRetryable: true, detail: "Overloaded" }));
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

  test("a server that is not there is a failure worth a retry", async () => {
    const { demo, run } = await start([]);
    await demo.close();
    demos.splice(0);
    await expect(run()).rejects.toMatchObject({ failure: failure({ kind: "timeout", isRetryable: true }) });
  });

  test.each(["before-headers", "before-events"] as const)("silence %s is a startup timeout", async (hang) => {
    const error = await failureOf({ hang }, { startupTimeoutMs: 40 });
    expect(error.failure).toEqual(failure({ kind: "startup_timeout", isRetryable: true }));
  });

  test("silence in the middle is a stalled stream", async () => {
    const error = await failureOf({ text: ["a"], hang: 1 }, { stallTimeoutMs: 40 });
    expect(error.failure).toEqual(failure({ kind: "stream_stalled", isRetryable: true }));
  });

  test("ten megabytes of text arrive whole", async () => {
    const piece = `${"wörter 🌍 ".repeat(800)}\n`;
    const text = Array.from({ length: Math.ceil(10_000_000 / Buffer.byteLength(piece)) }, () => piece);
    const parts = await runStep({ text });
    expect(textOf(parts, "text-delta") === text.join("")).toBe(true);
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  test("fifty calls at once do not mix", async () => {
    const script: Script = ({ turns }) => ({
      text: `you said ${turns[0]?.role === "user" ? turns[0].text : ""}`,
      delayMs: 1,
    });
    const { run } = await start(script);
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`);
    const answers = await Promise.all(
      names.map((text) => run({ ...REQUEST, messages: [{ role: "user", parts: [{ type: "text", text }] }] })),
    );
    expect(answers.map((parts) => textOf(parts, "text-delta"))).toEqual(
      names.map((name) => `you said ${name}`),
    );
  });
});

test("the vendor's own address is not called without a key", async () => {
  for (const { kind, openaiApi } of WIRES.slice(0, 3)) {
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

async function collect(stream: AsyncIterable<ModelStreamPart>): Promise<ModelStreamPart[]> {
  const parts: ModelStreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

function textOf(parts: ModelStreamPart[], type: "text-delta" | "reasoning-delta"): string {
  return parts.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
}

/** Resolves when the condition holds; looked at each turn of the event loop, bounded by the test's own timeout. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
