// Administration of model providers: validation, storage, where calls go, and providers from the environment.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import { decodeId } from "../../../src/domain/common/ids.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { freePort } from "../../support/network/free-port.js";
import {
  findNode,
  goOn,
  listModels,
  listProviders,
  newName,
  setupBy,
  talk,
  refusalsOf,
} from "../../support/models/model-setup.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

const ENVIRONMENT = (url: string) => ({ OPENAI_API_KEY: "environment-key", OPENAI_BASE_URL: `${url}/v1` });

let environment: TestEnvironment;
let server: TestParley;
let admin: ApiClient;
let member: ApiClient;
let setup: ReturnType<typeof setupBy>;
let vendor: DemoModel;
beforeAll(async () => {
  [environment, vendor] = await Promise.all([
    createTestEnvironment(),
    startDemoModel({ host: "127.0.0.1", port: 0 }),
  ]);
  server = await environment.start(ENVIRONMENT(vendor.url));
  admin = server.api;
  member = await server.addUser("member");
  setup = setupBy(admin);
});
afterAll(async () => {
  await environment.remove();
  await vendor.close();
});
beforeEach(() => void (vendor.requests as unknown[]).splice(0));

/** The keys that the vendor received. */
const keysSent = () =>
  vendor.requests.map(
    ({ headers }) => headers["x-api-key"] ?? headers["authorization"] ?? headers["api-key"],
  );

test("a provider is returned as created, looked up by its ID, and deleted once", async () => {
  const displayName = newName();
  const { provider, userErrors } = await setup.createProvider({
    kind: "OPENAI_COMPATIBLE",
    displayName: ` ${displayName} `,
    baseUrl: "HTTPS://Models.Example/v1",
    apiKey: { set: " s3cret-key " },
    keyPolicy: "USER_THEN_DEPLOYMENT",
    isPrivateNetworkAllowed: true,
  });
  expect(userErrors).toEqual([]);
  const expected = {
    __typename: "ModelProvider",
    id: expect.stringMatching(/^prov_[0-9a-f-]{36}$/) as string,
    kind: "OPENAI_COMPATIBLE",
    displayName,
    isEnabled: true,
    hasApiKey: true,
    hasViewerKey: false,
    keyPolicy: "USER_THEN_DEPLOYMENT",
    isDeleted: false,
    baseUrl: "https://models.example/v1",
    admin: {
      openaiApi: "CHAT",
      isPrivateNetworkAllowed: true,
      hasEnvironmentKey: false,
      isBaseUrlFromEnvironment: false,
    },
    models: [],
  };
  expect(provider).toEqual(expected);
  const id = provider?.id ?? "";
  expect([await findNode(admin, id), (await listProviders(admin)).find((it) => it.id === id)]).toEqual([
    provider,
    provider,
  ]);
  expect(await findNode(member, id)).toEqual({ ...expected, baseUrl: null, admin: null });
  expect(await setup.deleteProvider(id)).toEqual({ deletedId: id, userErrors: [] });
  expect(await findNode(admin, id)).toBeNull();
  expect((await listProviders(admin)).some((it) => it.id === id)).toBe(false);
  expect(refusalsOf((await setup.deleteProvider(id)).userErrors)).toEqual(["NOT_FOUND providerId"]);
  expect(refusalsOf((await setup.updateProvider(id, { displayName: "x" })).userErrors)).toEqual([
    "NOT_FOUND providerId",
  ]);
  expect(refusalsOf((await setup.createModel(id)).userErrors)).toEqual(["NOT_FOUND providerId"]);
  // The name can be used again.
  expect((await setup.createProvider({ displayName })).userErrors).toEqual([]);
});

test("all problems are returned at once, each with its field, and nothing is stored", async () => {
  const before = await listProviders(admin);
  const { provider, userErrors } = await setup.createProvider({
    displayName: " ",
    baseUrl: "https://user:word@models.example/#part",
    openaiApi: "CHAT",
    apiKey: { set: "two words" },
  });
  expect([provider, refusalsOf(userErrors)]).toEqual([
    null,
    ["INVALID displayName", "INVALID baseUrl", "INVALID baseUrl", "INVALID openaiApi", "INVALID apiKey.set"],
  ]);
  expect(JSON.stringify(userErrors)).not.toContain("two words");
  expect(await listProviders(admin)).toEqual(before);
});

describe("refused at its field", () => {
  test.each<[string, object, string]>([
    ["a compatible server without an address", { kind: "OPENAI_COMPATIBLE" }, "INVALID baseUrl"],
    ["Azure without an address", { kind: "AZURE_OPENAI" }, "INVALID baseUrl"],
    ["an address on this machine", { baseUrl: "http://127.0.0.1:1/" }, "INVALID baseUrl"],
    ["this machine by its name", { baseUrl: "http://localhost:1/" }, "INVALID baseUrl"],
    ["a private address in disguise", { baseUrl: "http://[::ffff:10.0.0.1]/" }, "INVALID baseUrl"],
    ["a cloud's metadata", { baseUrl: "http://169.254.169.254/" }, "INVALID baseUrl"],
    ["a very long key", { apiKey: { set: "k".repeat(8_193) } }, "INVALID apiKey.set"],
    ["a blank key", { apiKey: { set: "  " } }, "INVALID apiKey.set"],
    ["a name that is taken", { displayName: "OpenAI" }, "CONFLICT displayName"],
  ])("%s", async (_name, overrides, refusal) => {
    expect(refusalsOf((await setup.createProvider(overrides)).userErrors)).toEqual([refusal]);
  });
});

test("absent fields are kept, null clears the base URL, and null is refused for required fields", async () => {
  const { provider } = await setup.createProvider({ baseUrl: "https://one.example/", apiKey: { set: "k1" } });
  const id = provider?.id ?? "";
  const renamed = await setup.updateProvider(id, { displayName: `${provider?.displayName} 2` });
  expect(renamed.provider).toEqual({ ...provider, displayName: `${provider?.displayName} 2` });
  const nulls = { displayName: null, keyPolicy: null, isEnabled: null };
  expect(refusalsOf((await setup.updateProvider(id, nulls)).userErrors)).toEqual([
    "INVALID displayName",
    "INVALID keyPolicy",
    "INVALID isEnabled",
  ]);
  const cleared = await setup.updateProvider(id, { baseUrl: null, apiKey: null });
  expect(cleared.provider).toMatchObject({ baseUrl: null, hasApiKey: false });
});

describe("no key is sent to a provider's new host", () => {
  test("the stored key must be set again, and users' own keys are deleted", async () => {
    const keys = { apiKey: { set: "k1" }, keyPolicy: "USER_THEN_DEPLOYMENT" };
    const { provider } = await setup.createProvider({ baseUrl: "https://one.example/a", ...keys });
    const id = provider?.id ?? "";
    await member.change("setViewerProviderKey", { providerId: id, apiKey: { set: "mine" } }, "__typename");
    const hasOwn = async () => (await findNode(member, id))?.["hasViewerKey"];
    const sameHost = await setup.updateProvider(id, { baseUrl: "https://one.example/b" });
    expect([refusalsOf(sameHost.userErrors), await hasOwn()]).toEqual([[], true]);
    const moved = await setup.updateProvider(id, { baseUrl: "https://two.example/b" });
    expect([refusalsOf(moved.userErrors), await hasOwn()]).toEqual([["INVALID apiKey"], true]);
    const given = await setup.updateProvider(id, { baseUrl: "https://two.example/b", apiKey: { set: "k2" } });
    expect([refusalsOf(given.userErrors), await hasOwn()]).toEqual([[], false]);
  });
});

describe.each([
  ["ANTHROPIC", "anthropic", {}],
  ["OPENAI", "openai-responses", { openaiApi: "RESPONSES" }],
  ["OPENAI", "openai-chat", { openaiApi: "CHAT" }],
  ["OPENAI_COMPATIBLE", "openai-chat", {}],
  ["GOOGLE", "google", {}],
  ["AZURE_OPENAI", "openai-responses", {}],
  ["BEDROCK", "bedrock", {}],
])("%s as %s", (kind, wire, overrides) => {
  test("answers a turn at the base URL and with the key set by the admin", async () => {
    const provider = await setup.provider(vendor.url, { kind, apiKey: { set: "the-key" }, ...overrides });
    const turn = await talk(member, await setup.model(provider, { model: "some-model" }));
    expect([turn.status, turn.answer]).toEqual(["WAITING", "word1 word2 "]);
    expect(vendor.requests.map((it) => [it.wire, it.model])).toEqual([[wire, "some-model"]]);
    const sent = JSON.stringify(vendor.requests[0]?.headers);
    expect([sent.includes("the-key"), sent.includes("environment-key")]).toEqual([true, false]);
  });
});

describe("the address is checked at each call", () => {
  test.each(["ANTHROPIC", "OPENAI", "OPENAI_COMPATIBLE", "GOOGLE", "BEDROCK"])(
    "%s at a blocked local address",
    async (kind) => {
      const provider = await setup.provider(vendor.url, { kind, apiKey: { set: "k" } });
      const model = await setup.model(provider, { model: "some-model" });
      await environment.database.dataSource.query(
        "UPDATE model_providers SET allows_private_addresses = false WHERE id = $1",
        [decodeId("prov", provider)],
      );
      const turn = await talk(member, model);
      expect([turn.status, turn.failure?.kind, vendor.requests]).toEqual(["ERROR", "CONFIG", []]);
      expect(turn.failure?.message).toContain("127.0.0.1 is a private address");
      const { discoverModels } = await discover(provider);
      expect(discoverModels).toMatchObject({ models: null, failure: { kind: "BLOCKED" } });
    },
  );
});

const DISCOVERY = `query ($id: ID!) { discoverModels(providerId: $id) {
  models { model displayName contextLimit isConfigured pricing { input } } failure { kind message } } }`;
type Discovery = {
  discoverModels: { models: object[] | null; failure: { kind: string; message: string } | null } | null;
};
const discover = (id: string) => admin.get<Discovery>(DISCOVERY, { id });

describe("the models of a provider", () => {
  const demo = { model: "demo", displayName: "demo", contextLimit: null, isConfigured: false, pricing: null };
  test.each<[string, object]>([
    ["ANTHROPIC", { ...demo, displayName: "Demo model" }],
    ["OPENAI", demo],
    ["OPENAI_COMPATIBLE", demo],
    ["GOOGLE", { ...demo, displayName: "Demo model", contextLimit: 1_048_576 }],
  ])("%s tells", async (kind, listed) => {
    const provider = await setup.provider(vendor.url, { kind, apiKey: { set: "k" } });
    expect(await discover(provider)).toEqual({ discoverModels: { models: [listed], failure: null } });
    await setup.model(provider, { model: "demo" });
    expect((await discover(provider)).discoverModels?.models).toEqual([{ ...listed, isConfigured: true }]);
  });

  test("a list that cannot be fetched is a failure with a reason", async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const key = { apiKey: { set: "k" } };
    const kinds = [
      await setup.provider(nowhere, { kind: "OPENAI", ...key }),
      await setup.provider(`${vendor.url}/no/such/path`, { kind: "ANTHROPIC", ...key }),
      await setup.provider(vendor.url, { kind: "AZURE_OPENAI", ...key }),
      (await setup.createProvider({ kind: "BEDROCK", ...key })).provider?.id ?? "",
      (await setup.createProvider({ kind: "GOOGLE" })).provider?.id ?? "",
    ];
    const found = await Promise.all(kinds.map(discover));
    expect(found.map(({ discoverModels: it }) => [it?.models, it?.failure?.kind])).toEqual([
      [null, "UNREACHABLE"],
      [null, "REFUSED"],
      [null, "UNSUPPORTED"],
      [null, "UNSUPPORTED"],
      [null, "MISSING_KEY"],
    ]);
    expect(await discover("prov_00000000-0000-4000-8000-000000000000")).toEqual({ discoverModels: null });
  });
});

test("calls to a disabled provider are refused with a clear error", async () => {
  const provider = await setup.provider(vendor.url, { apiKey: { set: "k" } });
  const model = await setup.model(provider);
  const { chatId } = await talk(member, model);
  await setup.updateProvider(provider, { isEnabled: false });
  const refused = await member.change(
    "createChat",
    { parts: [{ text: { text: "x" } }], modelConfigId: model },
    "__typename",
  );
  const turn = await goOn(member, chatId);
  expect([refusalsOf(refused.userErrors as never), turn.status, turn.failure?.kind]).toEqual([
    ["INVALID modelConfigId"],
    "ERROR",
    "PROVIDER_DISABLED",
  ]);
  expect((await listModels(member, false)).some(({ id }) => id === model)).toBe(false);
});

test("past messages and costs keep the names of a deleted provider's models, and its chats use the default", async () => {
  const provider = await setup.provider(vendor.url, { apiKey: { set: "k" } });
  const displayName = newName();
  const model = await setup.model(provider, { displayName, pricing: { input: "1", output: "1" } });
  const { chatId } = await talk(member, model);
  await member.change("updateUserPreferences", { defaultModelConfigId: model }, "__typename");
  expect((await setup.deleteProvider(provider)).userErrors).toEqual([]);
  const query = `query ($id: ID!) { viewer { preferences { defaultModelConfig { id } } }
    chat(id: $id) { modelConfig { displayName isDeleted provider { isDeleted hasApiKey } }
    messages { nodes { role modelConfig { displayName } } } cost { byModel { messageCount modelConfig { displayName } } } } }`;
  expect(await member.get(query, { id: chatId })).toEqual({
    viewer: { preferences: { defaultModelConfig: null } },
    chat: {
      modelConfig: { displayName, isDeleted: true, provider: { isDeleted: true, hasApiKey: false } },
      messages: {
        nodes: [
          { role: "USER", modelConfig: { displayName } },
          { role: "ASSISTANT", modelConfig: { displayName } },
        ],
      },
      cost: { byModel: [{ messageCount: 1, modelConfig: { displayName } }] },
    },
  });
  expect([await findNode(admin, model), (await listModels(admin)).some(({ id }) => id === model)]).toEqual([
    null,
    false,
  ]);
  const turn = await goOn(member, chatId);
  expect([turn.status, keysSent().at(-1)]).toEqual(["WAITING", "Bearer environment-key"]);
});

describe("a provider configured in the environment", () => {
  const openai = async (api = admin) =>
    (await listProviders(api)).find((it) => it.displayName === "OpenAI" || it.displayName === "Ours");

  test("exists with its key, which is not stored", async () => {
    expect(await openai()).toMatchObject({
      hasApiKey: true,
      baseUrl: `${vendor.url}/v1`,
      admin: { hasEnvironmentKey: true, isBaseUrlFromEnvironment: true, isPrivateNetworkAllowed: false },
    });
    const stored = await environment.database.dataSource.query<object[]>(
      "SELECT 1 FROM model_providers WHERE api_key IS NOT NULL AND api_key_variable IS NOT NULL",
    );
    expect(stored).toEqual([]);
  });

  describe("and changed by an admin", () => {
    let other: TestParley;
    let elsewhere: DemoModel;
    beforeEach(async () => {
      elsewhere = await startDemoModel({ host: "127.0.0.1", port: 0 });
    });
    afterEach(async () => {
      await other.close();
      await elsewhere.close();
    });

    test("keeps the changes at a restart, and the environment's key is not sent", async () => {
      const id = (await openai())?.id ?? "";
      const address = { baseUrl: `${elsewhere.url}/v1`, isPrivateNetworkAllowed: true };
      const { provider } = await setup.updateProvider(id, { ...address, displayName: "Ours" });
      expect(provider).toMatchObject({ hasApiKey: false, admin: { isBaseUrlFromEnvironment: false } });
      other = await environment.start(ENVIRONMENT(vendor.url));
      expect(await openai(other.api)).toEqual(provider);
      const turn = await talk(other.api);
      expect([turn.status, elsewhere.requests.length, vendor.requests.length]).toEqual(["WAITING", 1, 0]);
      expect(JSON.stringify(elsewhere.requests)).not.toContain("environment-key");
    });
  });
});
