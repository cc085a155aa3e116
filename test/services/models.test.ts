// Resolving a turn's model and key: number of statements, and visibility of other replicas' changes.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ModelDependencies } from "../../src/commands/models/model-dependencies.js";
import { createModelCommands } from "../../src/commands/models/model-commands.js";
import { Models } from "../../src/services/models/models.js";
import { ProviderEndpoints } from "../../src/services/models/provider-endpoints.js";
import type { Bus } from "../../src/events/bus/bus.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { RedisBus } from "../../src/events/bus/redis-bus.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import type { ModelProvider, ProviderSettings } from "../../src/providers/types.js";
import { validateOptions } from "../../src/providers/common/validate-options.js";
import { Database } from "../../src/store/common/database.js";
import { ensureDefaultProviders } from "../../src/store/models/default-models.js";
import type { ProviderRecord } from "../../src/store/models/models.js";
import { providerKeyReference, setPersonalKey } from "../../src/store/models/provider-keys.js";
import { ManualClock } from "../agent/manual-clock.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { insertSomeModel, insertSomeProvider } from "../support/database/model-rows.js";
import { hasRedis, startRedis } from "../support/network/redis.js";
import { insertViewer } from "../support/database/rows.js";
import { testSecretBox } from "../support/users/secrets-keys.js";
import { publishOnlyBus } from "../engine/world.js";

const log = createLog("silent");
let testDatabase: TestDatabase;
let database: Database;
let bus: MemoryBus;
let ann: string;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new Database(testDatabase.dataSource);
  await ensureDefaultProviders(database, {});
  ann = (await insertViewer(database)).userId;
});
afterAll(() => testDatabase.drop());
const ends: (() => unknown)[] = [];
beforeEach(() => void (bus = new MemoryBus(log)));
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** One replica's models; `opened`: the settings with which adapters were created. */
function replica(on: Bus = bus, keys: Record<string, string> = {}) {
  const clock = new ManualClock();
  const outbound = new OutboundFetch(clock);
  const opened: ProviderSettings[] = [];
  const endpoints = new ProviderEndpoints({
    ...{ database, clock, log, outbound, keys },
    ...{ secrets: testSecretBox, demoUrl: "http://127.0.0.1:1" },
  });
  const createAdapter = (settings: ProviderSettings): Promise<ModelProvider> => {
    opened.push(settings);
    return Promise.resolve({
      stream: () => Promise.reject(new Error("No call was expected.")) as never,
      findContextLimit: () => Promise.resolve(null),
      listModels: () => Promise.resolve(null),
    });
  };
  const models = new Models({
    database,
    clock,
    log,
    bus: on,
    endpoints,
    createAdapter,
    maxOutputTokens: 32_000,
  });
  ends.push(() => models.close());
  const outcomeOf = async (configId: string | null, userId = ann) => {
    const choice = await models.choose(configId, userId);
    return choice.ok ? choice.model.config.displayName : choice.failure.kind;
  };
  return { models, clock, opened, outcomeOf };
}

const sealedKey = (id: string, key: string) => testSecretBox.seal(key, providerKeyReference(id));

function keyed(key: string, overrides: object = {}): Promise<ProviderRecord> {
  const id = randomUUID();
  return insertSomeProvider(database, { id, sealedKey: sealedKey(id, key), ...overrides });
}

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const before = database.counters.statements;
  await work();
  return database.counters.statements - before;
}

describe("a turn executes", () => {
  test("no statement for its model or its key while they are cached", async () => {
    const { id: providerId } = await keyed("ours");
    const model = await insertSomeModel(database, { providerId });
    const { models, clock } = replica();
    const turn = async () => {
      await models.choose(model.id, ann);
      await models.asksPersonalKeys();
    };
    const counts = [await statementsOf(turn), await statementsOf(turn)];
    clock.advance(10_000);
    counts.push(await statementsOf(turn));
    expect(counts).toEqual([2, 0, 2]);
  });

  test("one more in ten seconds for each user with a personal key", async () => {
    const { id: providerId } = await keyed("ours", { keyPolicy: "user_then_deployment" });
    const model = await insertSomeModel(database, { providerId });
    const bob = (await insertViewer(database)).userId;
    const { models } = replica();
    const turns = () => Promise.all([ann, ann, bob].map((userId) => models.choose(model.id, userId)));
    expect([await statementsOf(turns), await statementsOf(turns)]).toEqual([4, 0]);
  });
});

test("a key that cannot be decrypted counts as missing, and is not sent", async () => {
  const provider = await insertSomeProvider(database, {
    sealedKey: sealedKey(randomUUID(), "another row's"),
  });
  const model = await insertSomeModel(database, { providerId: provider.id });
  const { outcomeOf, opened } = replica();
  expect([await outcomeOf(model.id), opened]).toEqual(["missing_key", []]);
});

test("requests are guarded for addresses that an admin chose, and for no others", async () => {
  const { models, opened } = replica(bus, { ANTHROPIC_API_KEY: "environment-key" });
  await ensureDefaultProviders(database, { anthropic: { baseUrl: "http://127.0.0.1:1" } });
  const input = await keyed("k", { baseUrl: "http://127.0.0.1:2/" });
  const model = await insertSomeModel(database, { providerId: input.id });
  await models.choose(null, ann);
  await models.choose(model.id, ann);
  expect(opened.map(({ apiKey, baseUrl, fetch }) => [apiKey, baseUrl, fetch !== undefined])).toEqual([
    ["environment-key", "http://127.0.0.1:1", false],
    ["k", "http://127.0.0.1:2/", true],
  ]);
});

describe("another replica's change", () => {
  /** Everything that can change for a turn: the row, the change, and the expected outcome. */
  const CHANGES: [string, "model_configs" | "model_providers", string, string][] = [
    ["a model is switched off", "model_configs", "is_enabled = false", "provider_disabled"],
    ["a provider is switched off", "model_providers", "is_enabled = false", "provider_disabled"],
    ["a provider uses personal keys", "model_providers", "key_policy = 'user'", "missing_key"],
    ["a key is taken away", "model_providers", "api_key = NULL", "missing_key"],
    ["a model is renamed", "model_configs", "display_name = 'Other'", "Other"],
  ];

  async function someModel(table: string, assignment: string) {
    const provider = await keyed("ours");
    const model = await insertSomeModel(database, { providerId: provider.id });
    const id = table === "model_configs" ? model.id : provider.id;
    const change = () =>
      testDatabase.dataSource.query(`UPDATE ${table} SET ${assignment} WHERE id = $1`, [id]);
    return { model, change };
  }

  test.each(CHANGES)("is visible at once when it is announced: %s", async (_name, table, set, expected) => {
    const { model, change } = await someModel(table, set);
    const { outcomeOf } = replica();
    const seen = [await outcomeOf(model.id)];
    await change();
    bus.publishConfigChange("settings");
    seen.push(await outcomeOf(model.id));
    bus.publishConfigChange("models");
    seen.push(await outcomeOf(model.id));
    expect(seen).toEqual([model.displayName, model.displayName, expected]);
  });

  test.each(CHANGES)(
    "applies after ten seconds when it is not announced: %s",
    async (_name, table, set, expected) => {
      const { model, change } = await someModel(table, set);
      const { outcomeOf, clock } = replica(publishOnlyBus(bus));
      const seen = [await outcomeOf(model.id)];
      await change();
      bus.publishConfigChange("models");
      clock.advance(9_999);
      seen.push(await outcomeOf(model.id));
      clock.advance(1);
      seen.push(await outcomeOf(model.id));
      expect(seen).toEqual([model.displayName, model.displayName, expected]);
    },
  );

  test("of a user's key is visible at once when announced, else within ten seconds", async () => {
    const provider = await keyed("ours", { keyPolicy: "user" });
    const model = await insertSomeModel(database, { providerId: provider.id });
    const [near, far] = [replica(), replica(publishOnlyBus(bus))];
    const both = () => Promise.all([near.outcomeOf(model.id), far.outcomeOf(model.id)]);
    const seen = [await both()];
    await setPersonalKey(database, testSecretBox, { userId: ann, providerId: provider.id, key: "anns" });
    bus.publishConfigChange("models");
    seen.push(await both());
    far.clock.advance(10_000);
    seen.push(await both());
    expect(seen).toEqual([
      ["missing_key", "missing_key"],
      [model.displayName, "missing_key"],
      [model.displayName, model.displayName],
    ]);
    expect(near.opened.map(({ apiKey }) => apiKey)).toEqual(["anns"]);
  });

  test("of whether personal keys are used is visible, too", async () => {
    await testDatabase.dataSource.query("DELETE FROM model_configs WHERE NOT is_default");
    await testDatabase.dataSource.query(
      "DELETE FROM model_providers p WHERE NOT EXISTS (SELECT FROM model_configs m WHERE m.provider_id = p.id)",
    );
    const { models } = replica(bus, { ANTHROPIC_API_KEY: "k" });
    const seen = [await models.asksPersonalKeys()];
    await keyed("ours", { keyPolicy: "user" });
    seen.push(await models.asksPersonalKeys());
    bus.publishConfigChange("models");
    seen.push(await models.asksPersonalKeys());
    expect(seen).toEqual([false, false, true]);
  });

  test.skipIf(!hasRedis)("travels from an admin's command through Redis", async () => {
    const redis = await startRedis();
    ends.push(() => redis.stop());
    const [here, there] = [await connect(redis.url), await connect(redis.url)];
    const provider = await keyed("ours");
    const model = await insertSomeModel(database, { providerId: provider.id });
    const { outcomeOf } = replica(there);
    const notified = new Promise<void>((resolve) => {
      there.onConfigChange((topic) => (topic === "models" ? resolve() : undefined));
    });
    const before = await outcomeOf(model.id);
    const parts: ModelDependencies = {
      ...{ database, secrets: testSecretBox, validateOptions },
      announceModels: () => here.publishConfigChange("models"),
      discoverModels: () => Promise.reject(new Error("No request was expected.")),
    };
    const admin = { ...(await insertViewer(database, "admin")), requestId: "test" };
    const done = await createModelCommands(parts).updateProvider(admin, {
      providerId: provider.id,
      isEnabled: false,
    });
    await notified;
    expect([before, done.ok, await outcomeOf(model.id)]).toEqual([
      model.displayName,
      true,
      "provider_disabled",
    ]);
  });
});

async function connect(url: string): Promise<RedisBus> {
  const connected = await RedisBus.connect({ url, log, clock: systemClock });
  ends.unshift(() => connected.close());
  return connected;
}
