// Whose key pays: users' own keys through the API, and the keys that vendors receive.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { startGatedModel } from "../../support/models/gated-model.js";
import {
  findNode,
  goOn,
  setupBy,
  talk,
  refusalsOf,
  type UserErrors,
} from "../../support/models/model-setup.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";

let environment: TestEnvironment;
let server: TestParley;
let admin: ApiClient;
let ann: ApiClient;
let bob: ApiClient;
let setup: ReturnType<typeof setupBy>;
let vendor: DemoModel;
beforeAll(async () => {
  [environment, vendor] = await Promise.all([
    createTestEnvironment(),
    startDemoModel({ host: "127.0.0.1", port: 0 }),
  ]);
  server = await environment.start();
  admin = server.api;
  [ann, bob] = [await server.addUser("ann"), await server.addUser("bob")];
  setup = setupBy(admin);
});
afterAll(async () => {
  await environment.remove();
  await vendor.close();
});
beforeEach(() => void (vendor.requests as unknown[]).splice(0));

const keysSent = () =>
  vendor.requests.map(({ headers }) => (headers["authorization"] ?? "").replace(/^Bearer /, ""));

type Answered = { provider: { hasViewerKey: boolean } | null; userErrors: UserErrors };
const setKey = (api: ApiClient, providerId: string, apiKey: object) =>
  api.change<Answered>("setViewerProviderKey", { providerId, apiKey }, "provider { hasViewerKey }");

/** A provider with this key policy, and a model of it. */
async function provided(keyPolicy: string, overrides: object = {}) {
  const provider = await setup.provider(vendor.url, { keyPolicy, apiKey: { set: "ours" }, ...overrides });
  return { provider, model: await setup.model(provider) };
}

type Refusal = UserErrors[number] & { __typename: string; provider: { id: string } | null };
const REFUSALS = "userErrors { __typename code message path ... on ProviderKeyRequired { provider { id } } }";

async function userErrorsOf(api: ApiClient, mutation: string, input: object): Promise<Refusal[]> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input!`;
  const query = `mutation ($input: ${type}) { result: ${mutation}(input: $input) { ${REFUSALS} } }`;
  return (await api.get<{ result: { userErrors: Refusal[] } }>(query, { input })).result.userErrors;
}

test("a user's key is visible to them alone, can be replaced, and deleted repeatedly", async () => {
  const { provider } = await provided("USER");
  const has = async () =>
    Promise.all([ann, bob, admin].map(async (api) => (await findNode(api, provider))?.["hasViewerKey"]));
  const seen = [await has()];
  expect(await setKey(ann, provider, { set: " one " })).toEqual({
    provider: { hasViewerKey: true },
    userErrors: [],
  });
  seen.push(await has());
  await setKey(ann, provider, { set: "two" });
  const gone = [await setKey(ann, provider, { clear: true }), await setKey(ann, provider, { clear: true })];
  seen.push(await has());
  expect(seen).toEqual([
    [false, false, false],
    [true, false, false],
    [false, false, false],
  ]);
  expect(gone).toEqual(gone.map(() => ({ provider: { hasViewerKey: false }, userErrors: [] })));
});

describe("a key is refused", () => {
  test.each([
    ["that is blank", { set: " " }, "INVALID apiKey.set"],
    ["with blanks in it", { set: "a b" }, "INVALID apiKey.set"],
    ["that is very long", { set: "k".repeat(8_193) }, "INVALID apiKey.set"],
    ["that is neither set nor cleared", { clear: false }, "INVALID apiKey.clear"],
  ])("%s", async (_name, apiKey, refusal) => {
    const { provider } = await provided("USER");
    expect(refusalsOf((await setKey(ann, provider, apiKey)).userErrors)).toEqual([refusal]);
  });

  test("where it would never be used: by a provider that uses the deployment's key, is disabled or deleted", async () => {
    const [{ provider: paid }, { provider: off }, { provider: gone }] = [
      await provided("DEPLOYMENT"),
      await provided("USER", { isEnabled: false }),
      await provided("USER"),
    ];
    await setup.deleteProvider(gone);
    const payloads = await Promise.all([paid, off, gone].map((id) => setKey(ann, id, { set: "mine" })));
    expect(payloads.map(({ userErrors }) => refusalsOf(userErrors))).toEqual([
      ["INVALID providerId"],
      ["INVALID providerId"],
      ["NOT_FOUND providerId"],
    ]);
  });
});

describe("model calls use", () => {
  test("the deployment's key, whatever users have stored, where the deployment pays", async () => {
    const { provider, model } = await provided("USER");
    await setKey(ann, provider, { set: "anns" });
    await setup.updateProvider(provider, { keyPolicy: "DEPLOYMENT" });
    await talk(ann, model);
    expect(keysSent()).toEqual(["ours"]);
  });

  test("the owner's own key, else the deployment's, where either pays", async () => {
    const { provider, model } = await provided("USER_THEN_DEPLOYMENT");
    await setKey(ann, provider, { set: "anns" });
    const { chatId } = await talk(ann, model);
    await talk(bob, model);
    // The chat belongs to the owner, even if an admin sends the message.
    await goOn(admin, chatId);
    await setKey(ann, provider, { set: "anns-new" });
    await goOn(ann, chatId);
    await setKey(ann, provider, { clear: true });
    await goOn(ann, chatId);
    expect(keysSent()).toEqual(["anns", "ours", "anns", "anns-new", "ours"]);
  });

  test("only the owner's own key where users pay", async () => {
    const { provider, model } = await provided("USER");
    await setKey(bob, provider, { set: "bobs" });
    const refused = await userErrorsOf(ann, "createChat", {
      parts: [{ text: { text: "Hello" } }],
      modelConfigId: model,
    });
    expect(refused).toEqual([
      {
        __typename: "ProviderKeyRequired",
        code: "KEY_REQUIRED",
        message: expect.stringContaining("requires the personal API key of the chat's owner") as string,
        path: ["modelConfigId"],
        provider: { id: provider },
      },
    ]);
    expect((await talk(bob, model)).status).toBe("WAITING");
    expect(keysSent()).toEqual(["bobs"]);
  });

  test("no AWS credentials of the machine where users pay", async () => {
    const { model } = await provided("USER", { kind: "BEDROCK" });
    const input = { parts: [{ text: { text: "Hello" } }], modelConfigId: model };
    expect(refusalsOf(await userErrorsOf(ann, "createChat", input))).toEqual(["KEY_REQUIRED modelConfigId"]);
  });
});

test("messages of a user without the required key are refused by every mutation that starts a turn", async () => {
  const { provider, model } = await provided("USER");
  await setKey(ann, provider, { set: "anns" });
  const { chatId } = await talk(ann, model);
  const [message] = (await ann.chat(chatId))?.messages.nodes ?? [];
  await setKey(ann, provider, { clear: true });
  const parts = [{ text: { text: "Hello" } }];
  const refused = [
    await userErrorsOf(ann, "sendChatMessage", { chatId, parts }),
    await userErrorsOf(admin, "sendChatMessage", { chatId, parts, modelConfigId: model }),
    await userErrorsOf(ann, "editChatMessage", { messageId: message?.id, parts }),
  ];
  expect(refused.map(refusalsOf)).toEqual(refused.map(() => ["KEY_REQUIRED modelConfigId"]));
  expect((await ann.chat(chatId))?.messages.nodes.length).toBe(2);
  await setKey(ann, provider, { set: "anns-again" });
  expect([(await goOn(ann, chatId)).status, keysSent()]).toEqual(["WAITING", ["anns", "anns-again"]]);
});

test("a message queued when the key is deleted fails its turn with the reason, and can be sent again", async () => {
  const model = await startGatedModel(({ turns }) => {
    const last = turns.findLast(({ role }) => role === "user");
    const isFirst = last?.role === "user" && last.text === "begin";
    return isFirst ? { text: ["Working", " on it"], delayMs: 1 } : { text: "Done." };
  });
  const provider = await setup.provider(model.url, { keyPolicy: "USER" });
  const modelConfigId = await setup.model(provider);
  await setKey(ann, provider, { set: "anns" });
  const chatId = await ann.createChat("begin", { workspaceId: null, modelConfigId });
  const follower = ann.follow(chatId);
  await follower.until(({ preview }) => preview !== null);
  expect((await ann.send(chatId, "wait")).queuedMessage).not.toBeNull();
  await setKey(ann, provider, { clear: true });
  model.clock.open();
  await follower.until(({ status, isCaughtUp }) => isCaughtUp && status === "ERROR");
  await follower.close();
  const failed = await ann.chat(chatId);
  expect([
    failed?.lastError?.kind,
    failed?.messages.nodes.map(({ role }) => role),
    model.requests.length,
  ]).toEqual(["MISSING_KEY", ["USER", "ASSISTANT", "USER"], 1]);
  await setKey(ann, provider, { set: "anns-again" });
  expect((await goOn(ann, chatId)).answer).toBe("Done.");
  await model.close();
});
