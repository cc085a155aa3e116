// Vendors that reject names, IDs or output limits in a request. No chat may get stuck, whichever vendor it uses next.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ScriptStep } from "../../../src/demo-model/answer.js";
import type { ModelLimits } from "../../../src/demo-model/limits.js";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import { goOn, setupBy, talk } from "../../support/models/model-setup.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

/** Every wire format. `limit` is the path of the output limit in its requests. */
const VENDORS = [
  { vendor: "Anthropic", provider: { kind: "ANTHROPIC" }, path: "", limit: ["max_tokens"] },
  {
    vendor: "OpenAI's Responses",
    provider: { kind: "OPENAI", openaiApi: "RESPONSES" },
    path: "/v1",
    limit: ["max_output_tokens"],
  },
  {
    vendor: "OpenAI's Chat Completions",
    provider: { kind: "OPENAI", openaiApi: "CHAT" },
    path: "/v1",
    limit: ["max_completion_tokens"],
  },
  {
    vendor: "a compatible server",
    provider: { kind: "OPENAI_COMPATIBLE", openaiApi: "CHAT" },
    path: "/v1",
    limit: ["max_tokens"],
  },
  {
    vendor: "Google",
    provider: { kind: "GOOGLE" },
    path: "",
    limit: ["generationConfig", "maxOutputTokens"],
  },
  { vendor: "Bedrock", provider: { kind: "BEDROCK" }, path: "", limit: ["max_tokens"] },
] as const;
/** The deployment's default output limit. */
const DEFAULT = 20_000;

let environment: TestEnvironment;
let server: TestParley;
let setup: ReturnType<typeof setupBy>;
let demo: DemoModel;
let steps: ScriptStep[] = [];
let limits: ModelLimits = {};
const providers: string[] = [];
beforeAll(async () => {
  [environment, demo] = await Promise.all([
    createTestEnvironment(),
    startDemoModel({
      ...{ host: "127.0.0.1", port: 0 },
      script: () => steps.shift() ?? { text: "Done." },
      limits: () => limits,
    }),
  ]);
  server = await environment.start({ PARLEY_MAX_OUTPUT_TOKENS: String(DEFAULT) });
  setup = setupBy(server.api);
  for (const { provider, path } of VENDORS)
    providers.push(await setup.provider(demo.url + path, { ...provider, apiKey: { set: "key" } }));
});
afterAll(async () => {
  await environment.remove();
  await demo.close();
});
beforeEach(() => {
  [steps, limits] = [[], {}];
  for (const list of [demo.requests, demo.refusals]) (list as unknown[]).splice(0);
});

const makeModel = (index: number, provider: object = {}) =>
  setup.model(providers[index] ?? "", { model: "some-model", contextLimit: null, ...provider });
const shownModel = async (id: string) => {
  type Read = { node: { contextLimit: number | null; outputLimit: number | null } };
  const query = "query ($id: ID!) { node(id: $id) { ... on ModelConfig { contextLimit outputLimit } } }";
  return (await server.api.get<Read>(query, { id })).node;
};
/** The output limit of each request, refused ones first. */
const askedOf = (path: readonly string[]) =>
  [...demo.refusals.map(({ request }) => request), ...demo.requests.map(({ body }) => body)].map((body) =>
    path.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], body),
  );

const STRANGE = ["functions.execute", "", "$x", "x".repeat(300), "1st", "a b", "å"];

test("whatever tools a model calls, with whatever IDs, every vendor accepts the history", async () => {
  const odd = (index: number): ScriptStep => ({
    toolCalls: [
      ...STRANGE.map((name, at) => ({ id: `call_${index}_${at}`, name, arguments: {} })),
      // Two calls with the same ID, one with an ID too long for Chat Completions, and one with unusual characters.
      ...["same", "same", `call_${index}_${"9".repeat(34)}`, "we.ird/id"].map((id) => ({
        ...{ id, name: "no_such_tool", arguments: {} },
      })),
    ],
  });
  const models = await Promise.all(VENDORS.map((_, index) => makeModel(index)));
  const { chatId, follower } = await server.api.quietChat({ workspaceId: null, modelConfigId: models[0] });
  for (const [index, modelConfigId] of models.entries()) {
    steps = [odd(index), { text: `Turn ${index}.` }];
    const before = follower.transcript.log.length;
    await server.api.send(chatId, "go", { modelConfigId });
    await follower.until(({ log }) => log.slice(before).some((it) => /^(status WAITING|error)/.test(it)));
  }
  await follower.close();
  const shown = await server.api.chat(chatId);
  expect([shown?.status, demo.refusals.map(({ answer }) => answer)]).toEqual(["WAITING", []]);
  // The streamed and the saved parts are equal, including names.
  expect([follower.transcript.breaches, follower.transcript.messages]).toEqual([[], shown?.messages.nodes]);
  const parts = shown?.messages.nodes.flatMap((message) => message.parts) ?? [];
  const calls = parts.filter((part) => part.__typename === "ToolCallPart");
  const results = parts.filter((part) => part.__typename === "ToolResultPart");
  const names = [...STRANGE, ...Array.from({ length: 4 }, () => "no_such_tool")];
  expect(calls.map(({ toolName }) => toolName)).toEqual(VENDORS.flatMap(() => names));
  expect(results.map(({ toolCallId, toolName }) => [toolCallId, toolName])).toEqual(
    calls.map(({ toolCallId, toolName }) => [toolCallId, toolName]),
  );
  for (const { isError, result } of results) {
    expect(isError).toBe(true);
    expect(JSON.stringify(result)).toContain("There is no tool named");
    expect(JSON.stringify(result)).toContain("The tools are: ");
  }
});

describe.each(VENDORS.map((row, index) => ({ ...row, index })))("$vendor", ({ index, limit }) => {
  test("a model with a lower output limit answers at once, and the limit is used from then on", async () => {
    limits = { maxOutputTokens: 4_096 };
    const model = await makeModel(index);
    const first = await talk(server.api, model);
    expect(first).toMatchObject({ status: "WAITING", answer: "Done.", failure: null });
    expect(askedOf(limit)).toEqual([DEFAULT, 4_096]);
    expect(await shownModel(model)).toMatchObject({ outputLimit: 4_096 });
    expect(await goOn(server.api, first.chatId)).toMatchObject({ status: "WAITING", failure: null });
    expect(askedOf(limit)).toEqual([DEFAULT, 4_096, 4_096]);
    // A new configured limit is tried until the vendor refuses it, too.
    await setup.updateModel(model, { maxOutputTokens: 2_000 });
    expect(await shownModel(model)).toMatchObject({ outputLimit: null });
  });

  test("several steps of a turn are rejected only once", async () => {
    limits = { maxOutputTokens: 4_096 };
    steps = [{ toolCalls: [{ id: "a", name: "nothing", arguments: {} }] }];
    expect(await talk(server.api, await makeModel(index))).toMatchObject({ status: "WAITING" });
    expect(askedOf(limit)).toEqual([DEFAULT, 4_096, 4_096]);
  });
});

test("a known model is never asked for more output than its limit", async () => {
  limits = { maxOutputTokens: 16_384 };
  const model = await makeModel(2, { model: "gpt-4o-2024-08-06" });
  expect(await talk(server.api, model)).toMatchObject({ status: "WAITING", failure: null });
  expect([askedOf(["max_completion_tokens"]), await shownModel(model)]).toMatchObject([
    [16_384],
    { outputLimit: 16_384 },
  ]);
});

test("a server with a context window below the default output limit answers, and its window is known from then on", async () => {
  limits = { contextTokens: 8_192 };
  const model = await makeModel(3);
  const first = await talk(server.api, model);
  expect(first).toMatchObject({ status: "WAITING", answer: "Done.", failure: null });
  expect([demo.refusals.length, demo.requests.length, await shownModel(model)]).toMatchObject([
    1,
    1,
    { contextLimit: 8_192, outputLimit: null },
  ]);
  expect(await goOn(server.api, first.chatId)).toMatchObject({ status: "WAITING", failure: null });
  expect([demo.refusals.length, demo.requests.length]).toEqual([1, 2]);
});

test("an unreadable limit is omitted where the API allows it", async () => {
  steps = [
    {
      error: {
        status: 400,
        message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
      },
    },
  ];
  expect(await talk(server.api, await makeModel(3))).toMatchObject({ status: "WAITING", failure: null });
  expect(askedOf(["max_tokens"])).toEqual([DEFAULT, undefined]);
});

test("a rejection that persists with every limit is a failure with a reason", async () => {
  const error = { status: 400, message: "max_tokens must be a prime number" };
  steps = Array.from({ length: 9 }, () => ({ error }));
  const { status, failure } = await talk(server.api, await makeModel(0));
  expect([status, failure?.kind]).toEqual(["ERROR", "GENERIC"]);
  expect(demo.requests).toHaveLength(2);
});

test("learned limits are in the database, for every replica", async () => {
  limits = { maxOutputTokens: 1_234 };
  const model = await makeModel(0);
  await talk(server.api, model);
  const rows = await environment.database.dataSource.query<object[]>(
    "SELECT observed_output_limit AS tokens FROM model_configs WHERE id = $1",
    [decodeId("model", model)],
  );
  expect(rows).toEqual([{ tokens: 1_234 }]);
});
