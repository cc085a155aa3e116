/** Azure OpenAI's differences from OpenAI: addresses, key, refusals and chunks. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/common/json.js";
import { startDemoModel } from "../../src/demo-model/server.js";
import { createProvider } from "../../src/providers/registry.js";
import type { ProviderSettings } from "../../src/providers/types.js";
import { expectReplay, FINISH_STOP, replay, textDelta, used } from "./replays/openai-replay.js";
import * as chat from "./streams/openai/chat-chunks.js";
import * as wire from "./streams/openai/responses-events.js";
import { collect, REQUEST } from "./support.js";

const SETTINGS: ProviderSettings = {
  kind: "azure_openai",
  displayName: "Acme",
  apiKey: "secret-key",
  baseUrl: "https://acme.openai.azure.com",
  openaiApi: "responses",
};
const azure = { kind: "azure_openai" as const, name: "", parts: [] };
const refusal = (status: number, error: JsonObject) => ({
  ...azure,
  status,
  headers: { "content-type": "application/json" },
  chunks: [JSON.stringify({ error })],
});

test.each([
  ["responses", "/openai/v1/responses", {}],
  ["chat", "/openai/v1/chat/completions", {}],
  ["chat", "/openai/v1/chat/completions?api-version=preview", { apiVersion: "preview" }],
] as const)("a %s call goes to %s, with the key in Azure's own header", async (openaiApi, path, options) => {
  const chunks = openaiApi === "chat" ? chat.ending : [wire.completed()];
  const { error, server } = await replay({ ...azure, chunks, options }, openaiApi);
  expect(error).toBeUndefined();
  expect(server.requests).toMatchObject([
    { method: "POST", path, headers: { "api-key": "secret-key" }, body: { model: "some-model" } },
  ]);
  expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
});

const FILTERED =
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.";
describe.each(["responses", "chat"] as const)("a %s call that Azure refuses", (openaiApi) => {
  test.each([
    [
      "because of its content filter",
      400,
      {
        message: FILTERED,
        type: null,
        param: "prompt",
        code: "content_filter",
        status: 400,
        innererror: {
          code: "ResponsibleAIPolicyViolation",
          content_filter_result: { jailbreak: { filtered: true, detected: true } },
        },
      },
      { kind: "content_filtered", isRetryable: false, detail: FILTERED },
    ],
    [
      "because of its content filter, named only inside",
      400,
      { message: "Blocked.", innererror: { code: "ResponsibleAIPolicyViolation" } },
      { kind: "content_filtered", isRetryable: false },
    ],
    [
      "because the deployment is not there",
      404,
      { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." },
      { kind: "config", isRetryable: false },
    ],
    [
      "because the deployment's model cannot do that",
      400,
      {
        code: "OperationNotSupported",
        message: "The chatCompletion operation does not work with the specified model.",
      },
      { kind: "config", isRetryable: false },
    ],
    [
      "because of the key",
      401,
      { code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint." },
      { kind: "auth", isRetryable: false },
    ],
    [
      "because of its rate limit",
      429,
      {
        code: "429",
        message: "Requests to the ChatCompletions_Create Operation have exceeded token rate limit.",
      },
      { kind: "rate_limited", isRetryable: true },
    ],
  ] as const)("%s is understood", async (_, status, error, failure) => {
    const seen = await replay(refusal(status, error as unknown as JsonObject), openaiApi);
    expect(seen.error).toMatchObject({
      failure: { ...failure, httpStatus: status, provider: "azure_openai" },
    });
  });
});

test("the filter's own chunks, before and after the words, are passed over", async () => {
  const results = { hate: { filtered: false, severity: "safe" } };
  await expectReplay(
    {
      ...azure,
      chunks: [
        chat.chunk({
          choices: [],
          prompt_filter_results: [{ prompt_index: 0, content_filter_results: results }],
        }),
        chat.chunk({
          choices: [
            { index: 0, delta: { content: "a" }, finish_reason: null, content_filter_results: results },
          ],
        }),
        chat.chunk({
          choices: [{ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 0 } }],
        }),
        ...chat.ending,
      ],
      parts: [textDelta("a"), used({ inputTokens: 10, outputTokens: 5 }), FINISH_STOP],
    },
    "chat",
  );
});

test("an answer that the filter stops ends as filtered", async () => {
  const { parts } = await replay({ ...azure, chunks: [wire.incomplete("content_filter")] }, "responses");
  expect(parts.at(-1)).toEqual({ type: "finish", reason: "content-filter" });
});

test("a rate limit inside the stream is recognised by its number", async () => {
  const chunks = [chat.text("a"), 'data: {"error":{"code":"429","message":"Too many."}}\n\n'];
  const { error } = await replay({ ...azure, chunks }, "chat");
  expect(error).toMatchObject({ failure: { kind: "rate_limited", isRetryable: true } });
});

test.each([
  [{ ...SETTINGS, baseUrl: undefined }, "config"],
  [{ ...SETTINGS, baseUrl: " " }, "config"],
  [{ ...SETTINGS, baseUrl: "no address" }, "config"],
  [{ ...SETTINGS, apiKey: "" }, "missing_key"],
] as const)("without its own address and key no call is made (%#)", async (settings, kind) => {
  const provider = await createProvider(settings);
  await expect(collect(provider.stream(REQUEST, new AbortController().signal))).rejects.toMatchObject({
    failure: { kind, isRetryable: false, provider: "azure_openai" },
  });
});

test("the demo model answers Azure's older addresses too, which name the deployment", async () => {
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0, script: [{ text: "hi" }] });
  const address = `${demo.url}/openai/deployments/gpt/chat/completions?api-version=2024-10-21`;
  const body = JSON.stringify({ messages: [{ role: "user", content: "hello" }] });
  const answer = await fetch(address, { method: "POST", body });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "hi" } }] });
  await demo.close();
});
