// What admins changed of providers and models, when servers start again: the environment does not take it back.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Database } from "../../src/store/common/database.js";
import { type EnvironmentModels, ensureDefaultProviders } from "../../src/store/models/default-models.js";
import {
  deleteConfig,
  deleteProvider,
  makeDefault,
  updateConfig,
  updateProvider,
} from "../../src/store/models/model-administration.js";
import { listModelConfigs, listProviders } from "../../src/store/models/models.js";
import { ensureSmallModel, getSmallModelConfigId } from "../../src/store/models/small-model.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertSomeProvider } from "../support/database/model-rows.js";

let own: TestDatabase;
let db: Database;
beforeEach(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterEach(() => own.drop());

const anthropic = {};
const openai = { api: "responses" as const };

/** Starts with this environment: the default, every provider and every model that is there. */
async function start(environment: EnvironmentModels) {
  const { modelConfig, isNamedModelRefused } = await ensureDefaultProviders(db, environment);
  const [providers, models] = [
    await listProviders(db),
    await listModelConfigs(db, { includeDisabled: true }),
  ];
  return {
    chosen: modelConfig.model,
    providers: providers.map(({ displayName }) => displayName),
    models: models.map(({ model }) => model),
    ...(isNamedModelRefused ? { isNamedModelRefused } : {}),
  };
}

async function providerCalled(name: string) {
  const found = (await listProviders(db)).find(({ displayName }) => displayName === name);
  if (!found) throw new Error(`There is no provider ${name}.`);
  return found;
}

async function modelCalled(name: string) {
  const found = (await listModelConfigs(db, { includeDisabled: true })).find(({ model }) => model === name);
  if (!found) throw new Error(`There is no model ${name}.`);
  return found;
}

const CLAUDE = "claude-sonnet-5-5";

test("a deleted provider is not created again, nor are its models", async () => {
  await start({ anthropic, openai });
  await deleteProvider(db, (await providerCalled("OpenAI")).id);
  const expected = { chosen: CLAUDE, providers: ["Anthropic"], models: [CLAUDE] };
  expect(await start({ anthropic, openai })).toEqual(expected);
  expect(await start({ anthropic, openai, model: "gpt-6" })).toEqual({
    ...expected,
    isNamedModelRefused: true,
  });
});

test("a deleted model is created again only when the environment names it again", async () => {
  await start({ anthropic, openai, model: "gpt-6" });
  await makeDefault(db, (await modelCalled(CLAUDE)).id);
  await deleteConfig(db, (await modelCalled("gpt-6")).id);
  const seen = [
    await start({ anthropic, openai, model: "gpt-6" }),
    await start({ anthropic, openai }),
    await start({ anthropic, openai, model: "gpt-7" }),
    await start({ anthropic, openai, model: "gpt-6" }),
  ];
  expect(seen.map(({ chosen, models }) => [chosen, models])).toEqual([
    [CLAUDE, [CLAUDE]],
    [CLAUDE, [CLAUDE]],
    ["gpt-7", [CLAUDE, "gpt-7"]],
    ["gpt-6", [CLAUDE, "gpt-7", "gpt-6"]],
  ]);
});

test("a disabled model does not become the default until the environment names it again", async () => {
  await start({ anthropic, openai });
  const gpt = await modelCalled("gpt-5");
  await updateConfig(db, { ...gpt, isEnabled: false });
  const seen = [await start({ openai }), await start({ openai, model: "gpt-5" })];
  expect(seen.map(({ chosen }) => chosen)).toEqual([CLAUDE, "gpt-5"]);
  await makeDefault(db, (await modelCalled(CLAUDE)).id);
  await updateProvider(db, { ...(await providerCalled("OpenAI")), isEnabled: false });
  expect(await start({ openai, model: "gpt-6" })).toMatchObject({
    chosen: CLAUDE,
    isNamedModelRefused: true,
  });
});

test("an address or a format that an admin chose stays, and the other is the environment's still", async () => {
  await start({ openai, anthropic });
  const [first, second] = [await providerCalled("OpenAI"), await providerCalled("Anthropic")];
  await updateProvider(db, { ...first, openaiApi: "chat", isFormatOwn: true });
  await updateProvider(db, { ...second, baseUrl: "https://ours.example/", isAddressOwn: true });
  await start({
    openai: { api: "responses", baseUrl: "https://new.example/" },
    anthropic: { baseUrl: "https://new.example/" },
  });
  const after = [await providerCalled("OpenAI"), await providerCalled("Anthropic")];
  expect(after.map(({ baseUrl, openaiApi }) => [baseUrl, openaiApi])).toEqual([
    ["https://new.example/", "chat"],
    ["https://ours.example/", "responses"],
  ]);
});

test.each([
  ["has a key of its own", { sealedKey: "sealed" }],
  ["is paid by users", { keyPolicy: "user" as const }],
  ["is at another address", { isAddressOwn: true, baseUrl: "http://127.0.0.1:1/" }],
])("a default whose provider %s stays when the environment's key goes", async (_name, change) => {
  await start({ anthropic });
  await updateProvider(db, { ...(await providerCalled("Anthropic")), ...change });
  expect((await start({ openai })).chosen).toBe(CLAUDE);
});

test("the demo model stays the default where an admin chose it", async () => {
  await start({});
  await start({ openai });
  const demo = await modelCalled("parley-demo");
  await updateConfig(db, demo);
  await makeDefault(db, demo.id);
  expect((await start({ openai })).chosen).toBe("parley-demo");
});

test("a vendor gets another name when an admin has used its own for another provider", async () => {
  await insertSomeProvider(db, { displayName: "OpenAI" });
  expect((await start({ openai })).providers).toEqual(["OpenAI", "OpenAI (2)"]);
});

test("a deleted small model is not created again, and there is none then", async () => {
  await start({ anthropic });
  await ensureSmallModel(db, { anthropic }, "claude-small");
  await deleteConfig(db, (await modelCalled("claude-small")).id);
  await own.dataSource.query("UPDATE settings SET value = 'null' WHERE key = 'smallModelConfigId'");
  await ensureSmallModel(db, { anthropic }, "claude-small");
  expect([await getSmallModelConfigId(db), (await start({ anthropic })).models]).toEqual([null, [CLAUDE]]);
});
