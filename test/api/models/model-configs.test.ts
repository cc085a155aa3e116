// Administration of models: validation, the default, and their use in turns.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import {
  findNode,
  goOn,
  listModels,
  newName,
  setupBy,
  talk,
  refusalsOf,
} from "../../support/models/model-setup.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
let admin: ApiClient;
let member: ApiClient;
let setup: ReturnType<typeof setupBy>;
let vendor: DemoModel;
/** A provider with Anthropic's wire format and a key. */
let anthropic: string;
beforeAll(async () => {
  [environment, vendor] = await Promise.all([
    createTestEnvironment(),
    startDemoModel({ host: "127.0.0.1", port: 0 }),
  ]);
  server = await environment.start();
  admin = server.api;
  member = await server.addUser("member");
  setup = setupBy(admin);
  anthropic = await setup.provider(vendor.url, { apiKey: { set: "key" } });
});
afterAll(async () => {
  await environment.remove();
  await vendor.close();
});
beforeEach(() => void (vendor.requests as unknown[]).splice(0));

const defaults = async () =>
  (await listModels(admin)).filter(({ isDefault }) => isDefault).map(({ id }) => id);

test("a model is returned as created, looked up by its ID, and deleted once", async () => {
  const displayName = newName();
  const values = {
    model: "claude-next",
    displayName,
    contextLimit: 100_000,
    compactionThresholdPercent: 0,
    maxOutputTokens: 4_096,
    pricing: { input: "1.25", output: "0", cacheRead: "0.125" },
    providerOptions: { thinkingBudgetTokens: 2_048, webSearch: { maxUses: 3 } },
  };
  const { modelConfig, userErrors } = await setup.createModel(anthropic, values);
  const expected = {
    ...values,
    __typename: "ModelConfig",
    id: expect.stringMatching(/^model_[0-9a-f-]{36}$/) as string,
    isEnabled: true,
    isDefault: false,
    isDeleted: false,
    capabilities: ["REASONING", "IMAGES", "WEB_SEARCH"],
    pricing: { ...values.pricing, cacheWrite: null },
    provider: { id: anthropic },
  };
  expect([modelConfig, userErrors]).toEqual([expected, []]);
  const id = modelConfig?.id ?? "";
  expect(await findNode(member, id)).toEqual({ ...expected, providerOptions: null });
  expect(await setup.deleteModel(id)).toEqual({ deletedId: id, userErrors: [] });
  expect([await findNode(admin, id), (await listModels(admin)).some((it) => it.id === id)]).toEqual([
    null,
    false,
  ]);
  expect(refusalsOf((await setup.deleteModel(id)).userErrors)).toEqual(["NOT_FOUND modelConfigId"]);
  expect(refusalsOf((await setup.updateModel(id, { displayName: "x" })).userErrors)).toEqual([
    "NOT_FOUND modelConfigId",
  ]);
  // The name can be used again.
  expect((await setup.createModel(anthropic, { displayName })).userErrors).toEqual([]);
});

test("all problems are returned at once, each with its field, and nothing is stored", async () => {
  const before = await listModels(admin);
  const { modelConfig, userErrors } = await setup.createModel(anthropic, {
    model: "two words",
    displayName: "",
    contextLimit: 0,
    compactionThresholdPercent: 101,
    maxOutputTokens: -1,
    providerOptions: { temprature: 1, webSearch: { contextSize: "low" }, topK: "s3cret" },
  });
  expect([modelConfig, refusalsOf(userErrors).sort()]).toEqual([
    null,
    [
      "INVALID compactionThresholdPercent",
      "INVALID contextLimit",
      "INVALID displayName",
      "INVALID maxOutputTokens",
      "INVALID model",
      "INVALID providerOptions.temprature",
      "INVALID providerOptions.topK",
      "INVALID providerOptions.webSearch.contextSize",
    ],
  ]);
  expect(JSON.stringify(userErrors)).not.toContain("s3cret");
  expect(await listModels(admin)).toEqual(before);
});

describe("refused at its field", () => {
  test.each<[string, object, string]>([
    ["options that are no object", { providerOptions: [1] }, "INVALID providerOptions"],
    ["options of any size", { providerOptions: { betas: ["x".repeat(20_000)] } }, "INVALID providerOptions"],
    [
      "an answer as long as the context",
      { contextLimit: 10, maxOutputTokens: 10 },
      "INVALID maxOutputTokens",
    ],
    ["a model that is default and disabled", { isDefault: true, isEnabled: false }, "CONFLICT isDefault"],
  ])("%s", async (_name, values, refusal) => {
    expect(refusalsOf((await setup.createModel(anthropic, values)).userErrors)).toEqual([refusal]);
  });

  test("a name that another model of the provider has, but not one of another provider's", async () => {
    const displayName = newName();
    await setup.model(anthropic, { displayName });
    const other = await setup.provider(vendor.url);
    const [again, elsewhere] = [
      await setup.createModel(anthropic, { displayName }),
      await setup.createModel(other, { displayName }),
    ];
    expect([refusalsOf(again.userErrors), refusalsOf(elsewhere.userErrors)]).toEqual([
      ["CONFLICT displayName"],
      [],
    ]);
  });

  test.each([["1e3"], ["-1"], ["1000001"], ["0.12345678901"], [1.5]])("the price %j", async (input) => {
    const values = { providerId: anthropic, model: "m", displayName: "M", pricing: { input, output: "0" } };
    const query =
      "mutation ($input: CreateModelConfigInput!) { createModelConfig(input: $input) { userErrors { code } } }";
    const { errors } = await admin.ask(query, { input: values });
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(["BAD_USER_INPUT"]);
  });
});

describe("an absent context limit or price", () => {
  test("comes from the table of known models, prices only for the maker's own provider", async () => {
    const bedrock = await setup.provider(vendor.url, { kind: "BEDROCK", apiKey: { set: "k" } });
    const known = async (provider: string, values: object) => {
      const { modelConfig } = await setup.createModel(provider, { model: "claude-haiku-4-5", ...values });
      return [modelConfig?.["contextLimit"], modelConfig?.["pricing"]];
    };
    const price = { input: "1", output: "5", cacheRead: "0.1", cacheWrite: "1.25" };
    expect([
      await known(anthropic, {}),
      await known(anthropic, { contextLimit: null, pricing: null }),
      await known(bedrock, {}),
      await known(anthropic, { model: "claude-unheard-of" }),
    ]).toEqual([
      [200_000, price],
      [null, null],
      [200_000, null],
      [null, null],
    ]);
  });
});

test("a change of the provider's API that is incompatible with a model's options is refused with the model's name", async () => {
  const provider = await setup.provider(vendor.url, { kind: "OPENAI", apiKey: { set: "k" } });
  const displayName = newName();
  await setup.model(provider, { displayName, providerOptions: { reasoningSummary: "auto" } });
  const { userErrors } = await setup.updateProvider(provider, { openaiApi: "CHAT" });
  expect(refusalsOf(userErrors)).toEqual(["CONFLICT openaiApi"]);
  expect(userErrors[0]?.message).toContain(displayName);
});

describe("the default", () => {
  test("moves when another takes over, and never by itself", async () => {
    const [before] = await defaults();
    const first = await setup.model(anthropic, { isDefault: true });
    expect(await defaults()).toEqual([first]);
    const { modelConfig } = await setup.updateModel(before ?? "", { isDefault: true });
    expect([modelConfig?.["isDefault"], await defaults()]).toEqual([true, [before]]);
    await setup.updateModel(first, { isDefault: true });
    const refused = [
      await setup.updateModel(first, { isDefault: false }),
      await setup.updateModel(first, { isEnabled: false }),
      await setup.deleteModel(first),
      await setup.updateProvider(anthropic, { isEnabled: false }),
      await setup.deleteProvider(anthropic),
    ];
    expect(refused.flatMap(({ userErrors }) => refusalsOf(userErrors))).toEqual([
      "CONFLICT isDefault",
      "CONFLICT isEnabled",
      "CONFLICT modelConfigId",
      "CONFLICT isEnabled",
      "CONFLICT providerId",
    ]);
    expect(await defaults()).toEqual([first]);
  });

  test("is not a model of a disabled provider, nor a disabled one", async () => {
    const provider = await setup.provider(vendor.url, { isEnabled: false });
    const [asleep, off] = [await setup.model(provider), await setup.model(anthropic, { isEnabled: false })];
    const payloads = [
      await setup.updateModel(asleep, { isDefault: true }),
      await setup.updateModel(off, { isDefault: true }),
      await setup.updateModel(off, { isDefault: true, isEnabled: true }),
    ];
    expect(payloads.map(({ userErrors }) => refusalsOf(userErrors))).toEqual([
      ["CONFLICT isDefault"],
      ["CONFLICT isDefault"],
      [],
    ]);
    expect(await defaults()).toEqual([off]);
  });

  test("is exactly one, whatever is changed at the same time", async () => {
    const provider = await setup.provider(vendor.url);
    const models = await Promise.all([1, 2, 3, 4].map(() => setup.model(provider)));
    await Promise.all([
      ...models.map((id) => setup.updateModel(id, { isDefault: true })),
      ...models.map((id) => setup.deleteModel(id)),
      setup.updateProvider(provider, { isEnabled: false }),
      ...models.map((id) => setup.updateModel(id, { isEnabled: false })),
    ]);
    const query = "{ modelConfigs { id isDefault } }";
    type Read = { modelConfigs: { isDefault: boolean }[] };
    const usable = (await admin.get<Read>(query)).modelConfigs;
    expect(usable.filter(({ isDefault }) => isDefault).length).toBe(1);
  });

  test.each([
    ["is_enabled = false", "model_configs_default_check"],
    ["deleted_at = now()", "model_configs_default_check"],
  ])("is enforced by the database: %s", async (change, constraint) => {
    const { dataSource } = environment.database;
    await expect(dataSource.query(`UPDATE model_configs SET ${change} WHERE is_default`)).rejects.toThrow(
      constraint,
    );
  });
});

describe("in turns", () => {
  test("options and the output limit are sent to the vendor, and the price determines the turn's cost", async () => {
    const model = await setup.model(anthropic, {
      model: "claude-haiku-4-5",
      maxOutputTokens: 5_000,
      providerOptions: { temperature: 0.5, stopSequences: ["END"] },
      pricing: { input: "1000000", output: "0" },
    });
    const { chatId } = await talk(member, model);
    expect(vendor.requests.map(({ body }) => body)).toMatchObject([
      { model: "claude-haiku-4-5", max_tokens: 5_000, temperature: 0.5, stop_sequences: ["END"] },
    ]);
    type Cost = { chat: { cost: { totalMicros: string; tokens: { input: string } } } };
    const query = "query ($id: ID!) { chat(id: $id) { cost { totalMicros tokens { input } } } }";
    const { cost } = (await member.get<Cost>(query, { id: chatId })).chat;
    expect(cost.totalMicros).toBe(`${BigInt(cost.tokens.input) * 1_000_000n}`);
  });

  test("a change takes effect with the next turn", async () => {
    const model = await setup.model(anthropic, { model: "claude-haiku-4-5" });
    const { chatId } = await talk(member, model);
    await setup.updateModel(model, { providerOptions: { temperature: 0.25 } });
    await goOn(member, chatId);
    await setup.updateModel(model, { providerOptions: null });
    await goOn(member, chatId);
    expect(vendor.requests.map(({ body }) => body["temperature"])).toEqual([undefined, 0.25, undefined]);
  });

  test("a limit learned from the vendor applies until an admin sets another", async () => {
    const model = await setup.model(anthropic, { contextLimit: 100_000 });
    await environment.database.dataSource.query(
      "UPDATE model_configs SET observed_context_limit = 50000 WHERE id = $1",
      [decodeId("model", model)],
    );
    const limits = [
      await setup.updateModel(model, { compactionThresholdPercent: 50 }),
      await setup.updateModel(model, { contextLimit: 80_000 }),
    ];
    expect(limits.map(({ modelConfig }) => modelConfig?.["contextLimit"])).toEqual([50_000, 80_000]);
  });

  test("chats of a disabled model are refused until another is chosen; those of a deleted one use the default", async () => {
    const [off, gone] = [await setup.model(anthropic), await setup.model(anthropic)];
    const chats = [(await talk(member, off)).chatId, (await talk(member, gone)).chatId];
    await setup.updateModel(off, { isEnabled: false });
    await setup.deleteModel(gone);
    const [refused, fallen] = [await goOn(member, chats[0] ?? ""), await goOn(member, chats[1] ?? "")];
    expect([refused.failure?.kind, fallen.status]).toEqual(["PROVIDER_DISABLED", "WAITING"]);
    const other = await setup.model(anthropic);
    const taken = await goOn(member, chats[0] ?? "", { modelConfigId: other });
    expect([taken.status, taken.failure]).toEqual(["WAITING", null]);
    type Read = { chat: { messages: { nodes: { modelConfig: { id: string } }[] } } };
    const query = "query ($id: ID!) { chat(id: $id) { messages { nodes { modelConfig { id } } } } }";
    const { chat } = await member.get<Read>(query, { id: chats[1] });
    expect(chat.messages.nodes.at(-1)?.modelConfig.id).toBe((await defaults())[0]);
  });
});

test("prices removed by an admin are not restored at a restart", async () => {
  const model = await setup.model(anthropic, { model: "claude-haiku-4-5", pricing: null });
  await environment.database.dataSource.query("DELETE FROM settings WHERE key = 'knownModelsEdition'");
  const again = await environment.start();
  const [row] = await environment.database.dataSource.query<{ price_input: string | null }[]>(
    "SELECT price_input FROM model_configs WHERE id = $1",
    [decodeId("model", model)],
  );
  expect(row).toEqual({ price_input: null });
  await again.close();
});
