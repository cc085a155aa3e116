import { afterEach, beforeEach, expect, test } from "vitest";
import { createDataSource } from "../../src/store/data-source.js";
import { Database } from "../../src/store/common/database.js";
import { type EnvironmentModels, ensureDefaultProviders } from "../../src/store/models/default-models.js";
import { findDefaultModelConfig, listModelConfigs, listProviders } from "../../src/store/models/models.js";
import { type TestDatabase, createTestDatabase } from "../support/database/database.js";

let own: TestDatabase;
let db: Database;
beforeEach(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterEach(() => own.drop());

const anthropic = {};
const openai = { api: "responses" as const };
const google = {};
const azure_openai = { baseUrl: "https://mine.openai.azure.com", api: "chat" as const };
const bedrock = { baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com" };
const DEMO = "Demo parley-demo";

/** Starts with this environment: the default, then every model, as `provider model`. */
async function start(environment: EnvironmentModels): Promise<{ chosen: string; models: string[] }> {
  const chosen = await ensureDefaultProviders(db, environment);
  const names = new Map((await listProviders(db)).map((it) => [it.id, it.displayName]));
  const configs = await listModelConfigs(db, { includeDisabled: true });
  return {
    chosen: `${chosen.provider.displayName} ${chosen.modelConfig.model}`,
    models: configs.map((it) => `${names.get(it.providerId)} ${it.model}`).sort(),
  };
}

async function choose(model: string): Promise<void> {
  await own.dataSource.query("UPDATE model_configs SET is_default = false");
  await own.dataSource.query("UPDATE model_configs SET is_default = true WHERE model = $1", [model]);
}

test("without any key there is the demo model, also when a model was named", async () => {
  expect([await start({}), await start({ model: "gpt-5" })]).toEqual([
    { chosen: DEMO, models: [DEMO] },
    { chosen: DEMO, models: [DEMO] },
  ]);
});

test("each key brings its vendor with its usual model, and the first is the default", async () => {
  const expected = {
    chosen: "Anthropic claude-sonnet-5-5",
    models: ["Anthropic claude-sonnet-5-5", "OpenAI gpt-5"],
  };
  expect([await start({ anthropic, openai }), await start({ anthropic, openai })]).toEqual([
    expected,
    expected,
  ]);
  const [first] = await listProviders(db);
  expect({ ...first, id: "" }).toEqual({
    id: "",
    kind: "anthropic",
    displayName: "Anthropic",
    baseUrl: null,
    openaiApi: "responses",
    apiKeyVariable: "ANTHROPIC_API_KEY",
    isDemo: false,
    isEnabled: true,
    keyPolicy: "deployment",
    allowsPrivateAddresses: false,
    isAddressOwn: false,
    isFormatOwn: false,
    isDeleted: false,
    createdAt: expect.any(Date) as Date,
    sealedKey: null,
  });
});

test("Google, Azure and Bedrock come with their usual models and addresses too", async () => {
  const everything = await start({ bedrock, azure_openai, google });
  expect(everything).toEqual({
    chosen: "Google gemini-3.8-flash",
    models: [
      "Amazon Bedrock global.anthropic.claude-sonnet-5-5",
      "Azure OpenAI gpt-5",
      "Google gemini-3.8-flash",
    ],
  });
  const rows = (await listProviders(db)).map((it) => [it.kind, it.baseUrl, it.openaiApi, it.apiKeyVariable]);
  expect(rows.sort(([a], [b]) => `${a}`.localeCompare(`${b}`))).toEqual([
    ["azure_openai", "https://mine.openai.azure.com", "chat", "AZURE_OPENAI_API_KEY"],
    [
      "bedrock",
      "https://bedrock-runtime.eu-central-1.amazonaws.com",
      "responses",
      "AWS_BEARER_TOKEN_BEDROCK",
    ],
    ["google", null, "responses", "GEMINI_API_KEY"],
  ]);
});

test.each([
  ["claude-next", "Anthropic"],
  ["gemini-9-pro", "Google"],
  ["models/gemma-9", "Google"],
  ["eu.anthropic.claude-next-v1:0", "Amazon Bedrock"],
  ["anthropic.claude-next", "Amazon Bedrock"],
  ["arn:aws:bedrock:eu-central-1:1:application-inference-profile/x", "Amazon Bedrock"],
  ["gpt-9", "OpenAI"],
  ["my-own-thing", "OpenAI"],
])("the model %s is asked for at %s", async (model, vendor) => {
  const { chosen } = await start({ anthropic, openai, google, azure_openai, bedrock, model });
  expect(chosen).toBe(`${vendor} ${model}`);
});

test("a deployment's own name goes to Azure when OpenAI has no key", async () => {
  expect((await start({ google, azure_openai, model: "our-gpt" })).chosen).toBe("Azure OpenAI our-gpt");
});

test("only the usual model's context limit is known beforehand", async () => {
  await start({ google });
  await start({ google, model: "gemini-9-pro" });
  const configs = await listModelConfigs(db, { includeDisabled: true });
  expect(configs.map((it) => [it.model, it.contextLimit, it.observedContextLimit])).toEqual([
    ["gemini-3.8-flash", 1_048_576, null],
    ["gemini-9-pro", null, null],
  ]);
});

test("a key that is added later replaces the demo", async () => {
  await start({});
  expect(await start({ openai })).toEqual({ chosen: "OpenAI gpt-5", models: [DEMO, "OpenAI gpt-5"] });
});

test("a second key does not take the default away from the first", async () => {
  await start({ openai });
  expect((await start({ openai, anthropic })).chosen).toBe("OpenAI gpt-5");
});

test("a default whose key has gone gives way to one that can answer, and else stays", async () => {
  await start({ anthropic });
  expect([(await start({})).chosen, (await start({ openai })).chosen]).toEqual([
    "Anthropic claude-sonnet-5-5",
    "OpenAI gpt-5",
  ]);
});

test("a named model goes to the vendor it belongs to and becomes the default", async () => {
  expect([
    await start({ anthropic, openai, model: "gpt-6" }),
    await start({ anthropic, openai, model: "claude-next" }),
  ]).toEqual([
    { chosen: "OpenAI gpt-6", models: ["Anthropic claude-sonnet-5-5", "OpenAI gpt-6"] },
    {
      chosen: "Anthropic claude-next",
      models: ["Anthropic claude-next", "Anthropic claude-sonnet-5-5", "OpenAI gpt-6"],
    },
  ]);
});

test("the environment sets its model once; what an operator chooses afterwards stays", async () => {
  await start({ anthropic, openai, model: "gpt-6" });
  await choose("claude-sonnet-5-5");
  const kept = await start({ anthropic, openai, model: "gpt-6" });
  const changed = await start({ anthropic, openai, model: "gpt-7" });
  const back = await start({ anthropic, openai, model: "gpt-6" });
  expect([kept.chosen, changed.chosen, back.chosen]).toEqual([
    "Anthropic claude-sonnet-5-5",
    "OpenAI gpt-7",
    "OpenAI gpt-6",
  ]);
});

test("the endpoint's address is the environment's at each start", async () => {
  await start({ openai });
  await start({ openai: { api: "chat", baseUrl: "http://127.0.0.1:1/v1" } });
  const [provider] = await listProviders(db);
  expect([provider?.baseUrl, provider?.openaiApi]).toEqual(["http://127.0.0.1:1/v1", "chat"]);
});

test("replicas that start together create one default", async () => {
  const other = createDataSource(own.options);
  await other.initialize();
  const second = new Database(other);
  await Promise.all([db, second, db, second].map((it) => ensureDefaultProviders(it, { anthropic, openai })));
  await second.close();
  expect([
    (await listProviders(db)).length,
    (await listModelConfigs(db, { includeDisabled: true })).length,
  ]).toEqual([2, 2]);
  expect((await findDefaultModelConfig(db))?.model).toBe("claude-sonnet-5-5");
});

test("a model of a disabled provider is not offered", async () => {
  await start({ anthropic, openai });
  await own.dataSource.query("UPDATE model_providers SET is_enabled = false WHERE kind = 'openai'");
  expect((await listModelConfigs(db, { includeDisabled: false })).map((it) => it.model)).toEqual([
    "claude-sonnet-5-5",
  ]);
});
