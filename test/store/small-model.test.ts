import { afterEach, beforeEach, expect, test } from "vitest";
import { Database } from "../../src/store/common/database.js";
import { ensureDefaultProviders } from "../../src/store/models/default-models.js";
import { listModelConfigs } from "../../src/store/models/models.js";
import { setSetting } from "../../src/store/common/settings.js";
import { ensureSmallModel, getSmallModelConfigId } from "../../src/store/models/small-model.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";

let own: TestDatabase;
let db: Database;
beforeEach(async () => {
  own = await createTestDatabase();
  db = new Database(own.dataSource);
});
afterEach(() => own.drop());

/** One start of a server with these keys and this PARLEY_SMALL_MODEL; the small model afterwards. */
async function start(keys: ("anthropic" | "openai")[], model?: string): Promise<string | null> {
  const environment = {
    ...(keys.includes("anthropic") ? { anthropic: {} } : {}),
    ...(keys.includes("openai") ? { openai: { api: "responses" as const } } : {}),
  };
  await ensureDefaultProviders(db, environment);
  await ensureSmallModel(db, environment, model);
  const id = await getSmallModelConfigId(db);
  return (
    (await listModelConfigs(db, { includeDisabled: true })).find((config) => config.id === id)?.model ?? null
  );
}

test("the small model is the one that the environment names, at the vendor of its name, and ends with it", async () => {
  expect([
    await start(["anthropic", "openai"]),
    await start(["anthropic", "openai"], "gpt-small"),
    await start(["anthropic", "openai"], "gpt-small"),
    await start(["anthropic", "openai"], "claude-small"),
    await start(["anthropic", "openai"]),
  ]).toEqual([null, "gpt-small", "gpt-small", "claude-small", null]);
  const configs = await listModelConfigs(db, { includeDisabled: true });
  expect(configs.map(({ model, isDefault }) => [model, isDefault])).toEqual([
    ["claude-sonnet-5-5", true],
    ["gpt-5", false],
    ["gpt-small", false],
    ["claude-small", false],
  ]);
});

test("a choice made in the settings stays until the environment changes", async () => {
  await start(["anthropic"], "claude-small");
  const [first] = await listModelConfigs(db, { includeDisabled: true });
  await setSetting(db, { key: "smallModelConfigId", value: first?.id ?? "", updatedBy: null });
  expect([await start(["anthropic"], "claude-small"), await start(["anthropic"], "claude-tiny")]).toEqual([
    "claude-sonnet-5-5",
    "claude-tiny",
  ]);
});

test("without a key there is none, and the start logs it", async () => {
  await ensureDefaultProviders(db, {});
  expect([await ensureSmallModel(db, {}, "gpt-small"), await getSmallModelConfigId(db)]).toEqual([
    false,
    null,
  ]);
});
