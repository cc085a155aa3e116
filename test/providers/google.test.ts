/** Gemini's adapter apart from its calls: settings, options, the environment, and context limits. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/domain/common/json.js";
import { createProvider } from "../../src/providers/registry.js";
import type { ProviderSettings } from "../../src/providers/types.js";
import { type Chunk, type ReplayServer, serveStream } from "./replays/replay-server.js";
import { collect, connect, REQUEST, until } from "./support.js";

const servers: ReplayServer[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const { start } = connect({ wire: "google", kind: "google", openaiApi: "responses", path: "" });
const STOP = 'data: {"candidates":[{"finishReason":"STOP"}]}\r\n\r\n';
const signal = () => new AbortController().signal;
const provide = (more: Partial<ProviderSettings>) =>
  createProvider({
    kind: "google",
    openaiApi: "responses",
    displayName: "Acme",
    apiKey: "secret-key",
    baseUrl: undefined,
    ...more,
  });

async function serve(chunks: Chunk[] = [STOP], headers?: Record<string, string>, status?: number) {
  const server = await serveStream(chunks, headers, status);
  servers.push(server);
  return server;
}

test.each(["", "/", "/v1beta", "/v1beta/", "/v1"])("the address may end with %j", async (end) => {
  const server = await serve();
  await collect((await provide({ baseUrl: server.url + end })).stream(REQUEST, signal()));
  expect(server.requests.map(({ path }) => path)).toEqual([
    "/v1beta/models/some-model:streamGenerateContent?alt=sse",
  ]);
});

test("an endpoint without a key gets none", async () => {
  const server = await serve();
  await collect((await provide({ baseUrl: server.url, apiKey: "" })).stream(REQUEST, signal()));
  expect(server.requests[0]?.headers["x-goog-api-key"]).toBeUndefined();
});

test("no environment variable changes the address or credentials of requests", async () => {
  vi.stubEnv("GOOGLE_GENAI_USE_VERTEXAI", "true");
  vi.stubEnv("GOOGLE_GENAI_USE_ENTERPRISE", "true");
  vi.stubEnv("GOOGLE_API_KEY", "not-this-one");
  vi.stubEnv("GOOGLE_CLOUD_PROJECT", "elsewhere");
  vi.stubEnv("GOOGLE_CLOUD_LOCATION", "nowhere");
  vi.stubEnv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1");
  vi.stubEnv("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:1");
  const server = await serve();
  await collect((await provide({ baseUrl: server.url })).stream(REQUEST, signal()));
  expect(server.requests.map(({ path, headers }) => [path, headers["x-goog-api-key"]])).toEqual([
    ["/v1beta/models/some-model:streamGenerateContent?alt=sse", "secret-key"],
  ]);
});

describe("a model's options", () => {
  const refusalOf = async (options: JsonObject, model = "gemini-3.8-flash") => {
    const server = await serve();
    const provider = await provide({ baseUrl: server.url });
    const asked = collect(provider.stream({ ...REQUEST, model, options }, signal()));
    await expect(asked).rejects.toMatchObject({
      failure: { kind: "config", isRetryable: false, provider: "google" },
    });
    expect(server.requests).toEqual([]);
    return asked.catch((error: unknown) => (error instanceof Error ? error.message : ""));
  };

  test.each<[JsonObject, string]>([
    [{ effort: "high" }, "`effort`"],
    [{ thinkingBudget: -2 }, "`thinkingBudget`"],
    [{ webSearch: { allowedDomains: ["example.com"] } }, "`webSearch.allowedDomains`"],
    [{ webSearch: { blockedDomains: ["example.com"] } }, "`webSearch.blockedDomains`"],
    [
      { safetySettings: [{ category: "HARM_CATEGORY_FUN", threshold: "OFF" }] },
      "`safetySettings.0.category`",
    ],
  ])("%j are refused by name", async (options, key) => {
    expect(await refusalOf(options)).toContain(key);
  });

  test("search beside tools is refused for models that cannot have both", async () => {
    expect(await refusalOf({ webSearch: {} }, "gemini-2.5-pro")).toBe(
      "Acme cannot be called with this model's options: " +
        "`webSearch`: gemini-2.5-pro cannot search in a chat with tools; Gemini 3 and newer can.",
    );
    const server = await serve();
    const request = { ...REQUEST, model: "gemini-2.5-pro", tools: [], options: { webSearch: {} } };
    await collect((await provide({ baseUrl: server.url })).stream(request, signal()));
    expect(server.requests[0]?.body).toMatchObject({ tools: [{ googleSearch: {} }] });
  });
});

describe("a model's context limit", () => {
  test("is the vendor's input limit", async () => {
    const { provider } = await start([]);
    expect(await provider.findContextLimit("gemini-3.8-flash", signal())).toBe(1_048_576);
  });

  test("is unknown when the vendor does not tell", async () => {
    const json = { "content-type": "application/json" };
    const server = await serve(['{"name":"models/some-model"}'], json);
    const provider = await provide({ baseUrl: server.url });
    expect(await provider.findContextLimit("some-model", signal())).toBeNull();
    expect(server.requests.map(({ method, path }) => [method, path])).toEqual([
      ["GET", "/v1beta/models/some-model"],
    ]);
  });

  test("cannot be had for a model that is not there", async () => {
    const body = { error: { code: 404, message: "models/x is not found.", status: "NOT_FOUND" } };
    const server = await serve([JSON.stringify(body)], { "content-type": "application/json" }, 404);
    const provider = await provide({ baseUrl: server.url });
    await expect(provider.findContextLimit("x", signal())).rejects.toMatchObject({
      failure: { kind: "config", httpStatus: 404, detail: "models/x is not found." },
    });
  });

  test("is not asked of the vendor's own address without a key", async () => {
    const provider = await provide({ apiKey: "" });
    await expect(provider.findContextLimit("x", signal())).rejects.toMatchObject({
      failure: { kind: "missing_key" },
    });
  });

  test("is waited for only until the call is aborted", async () => {
    const { demo, provider } = await start([{ hang: "before-headers" }]);
    const controller = new AbortController();
    const streaming = collect(provider.stream(REQUEST, controller.signal));
    await until(() => demo.requests.length === 1);
    controller.abort();
    await expect(provider.findContextLimit("x", controller.signal)).rejects.toThrow();
    expect(await streaming).toEqual([]);
  });
});
