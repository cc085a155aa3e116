// Vendors' model lists through the real SDKs: paged, with many that are no chat models, and endless.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelProviderKind } from "../../src/domain/common/failures.js";
import { controlAddress } from "../../src/providers/bedrock/models.js";
import { LISTED_MODELS_LIMIT } from "../../src/providers/common/listed-models.js";
import { createProvider } from "../../src/providers/registry.js";

let server: Server;
let url: string;
let asked: IncomingMessage[];
let answer: (path: URL) => unknown;
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request);
    const body = answer(new URL(request.url ?? "/", "http://list"));
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { error: { message: "Not here." } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function list(kind: ModelProviderKind, more: object = {}) {
  const settings = { kind, displayName: "Acme", apiKey: "the-key", openaiApi: "chat" as const, baseUrl: url };
  const provider = await createProvider({ ...settings, ...more });
  return provider.listModels(new AbortController().signal);
}

test("Anthropic's pages are one list, with what the entries say of the context", async () => {
  answer = ({ searchParams }) =>
    searchParams.has("after_id")
      ? { data: [{ id: "b", display_name: "B", max_input_tokens: 500 }], has_more: false, last_id: "b" }
      : { data: [{ id: "a", display_name: "A" }], has_more: true, last_id: "a" };
  expect(await list("anthropic")).toEqual([
    { model: "a", displayName: "A", contextLimit: null },
    { model: "b", displayName: "B", contextLimit: 500 },
  ]);
});

test("Google's models without chat support are left out, and names are those used in calls", async () => {
  const entry = (name: string, method: string) => ({
    ...{ name: `models/${name}`, displayName: name.toUpperCase(), inputTokenLimit: 1_000 },
    supportedGenerationMethods: [method],
  });
  answer = ({ searchParams }) =>
    searchParams.get("pageToken") === "2"
      ? { models: [entry("second", "generateContent")] }
      : { models: [entry("first", "generateContent"), entry("embed", "embedContent")], nextPageToken: "2" };
  expect(await list("google")).toEqual([
    { model: "first", displayName: "FIRST", contextLimit: 1_000 },
    { model: "second", displayName: "SECOND", contextLimit: 1_000 },
  ]);
});

test("a router's list has names and contexts; what has no id is skipped, and ids are listed once", async () => {
  const data = [{ id: "x/a", name: "A of X", context_length: 8_000 }, { id: "x/a" }, { id: 7 }, {}];
  answer = () => ({ object: "list", data });
  expect(await list("openai_compatible")).toEqual([
    { model: "x/a", displayName: "A of X", contextLimit: 8_000 },
  ]);
});

test("a list of any length is read only so far", async () => {
  const data = Array.from({ length: LISTED_MODELS_LIMIT + 10 }, (_, index) => ({ id: `m${index}` }));
  answer = () => ({ object: "list", data });
  expect((await list("openai"))?.length).toBe(LISTED_MODELS_LIMIT);
});

test("Azure has none, and is not asked", async () => {
  expect([await list("azure_openai"), asked.length]).toEqual([null, 0]);
});

describe("Bedrock", () => {
  const PROFILES = "/inference-profiles";
  const MODELS = "/foundation-models";

  test("tells Claude's inference profiles, and the models that are called by their own name", async () => {
    answer = ({ pathname, searchParams }) => {
      if (pathname === MODELS) {
        const model = (modelId: string, type: string) => ({
          ...{ modelId, modelName: modelId.toUpperCase(), inferenceTypesSupported: [type] },
        });
        return {
          modelSummaries: [
            model("anthropic.claude-old", "ON_DEMAND"),
            model("anthropic.claude-new", "INFERENCE_PROFILE"),
          ],
        };
      }
      if (pathname !== PROFILES) return undefined;
      const profile = (id: string) => ({ inferenceProfileId: id, inferenceProfileName: `Profile ${id}` });
      return searchParams.has("nextToken")
        ? { inferenceProfileSummaries: [profile("eu.anthropic.claude-new")] }
        : { inferenceProfileSummaries: [profile("eu.amazon.nova")], nextToken: "2" };
    };
    expect(await list("bedrock")).toEqual([
      {
        model: "eu.anthropic.claude-new",
        displayName: "Profile eu.anthropic.claude-new",
        contextLimit: null,
      },
      { model: "anthropic.claude-old", displayName: "ANTHROPIC.CLAUDE-OLD", contextLimit: null },
    ]);
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(asked.map(() => "Bearer the-key"));
  });

  test("is not requested without a key to sign the request, nor without an address", async () => {
    expect([
      await list("bedrock", { apiKey: "" }),
      await list("bedrock", { baseUrl: undefined }),
      asked.length,
    ]).toEqual([null, null, 0]);
  });

  test("that goes round in circles is left", async () => {
    answer = ({ pathname }) =>
      pathname === PROFILES ? { inferenceProfileSummaries: [], nextToken: "same" } : { modelSummaries: [] };
    expect([await list("bedrock"), asked.length]).toEqual([[], 3]);
  });

  test("that refuses says so with its status", async () => {
    answer = () => undefined;
    await expect(list("bedrock")).rejects.toMatchObject({ failure: { httpStatus: 404 } });
  });

  test.each([
    ["https://bedrock-runtime.eu-central-1.amazonaws.com", "https://bedrock.eu-central-1.amazonaws.com"],
    ["https://bedrock-runtime-fips.us-east-1.amazonaws.com/", "https://bedrock-fips.us-east-1.amazonaws.com"],
    ["https://bedrock-runtime.cn-north-1.amazonaws.com.cn", "https://bedrock.cn-north-1.amazonaws.com.cn"],
    [
      "https://vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com",
      "https://vpce-1.bedrock.eu-west-1.vpce.amazonaws.com",
    ],
    ["https://gateway.example/bedrock-runtime.x/", "https://gateway.example/bedrock-runtime.x"],
  ])("%s is asked at %s", (address, expected) => {
    expect(controlAddress(address)).toBe(expected);
  });
});
