// Chat metadata: title, labels and model, and the summary of the last turn in lists.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoModel, startDemoModel } from "../../../src/demo-model/server.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import type { UserError } from "../../support/clients/api-shapes.js";
import { createTestEnvironment, type TestEnvironment, type TestParley } from "../../support/parley.js";

let environment: TestEnvironment;
/** Generates titles automatically. */
let naming: TestEnvironment;
let demo: DemoModel;
let server: TestParley;
let bert: ApiClient;
beforeAll(async () => {
  demo = await startDemoModel({ host: "127.0.0.1", port: 0 });
  [environment, naming] = await Promise.all([createTestEnvironment(), createTestEnvironment()]);
  server = await environment.start({
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: demo.url,
    PARLEY_SMALL_MODEL: "claude-small",
  });
  bert = await server.addUser("bert");
});
afterAll(async () => {
  await Promise.all([environment.remove(), naming.remove()]);
  await demo.close();
});

type Shown = {
  title: string;
  labels: { key: string; value: string }[];
  modelConfig: { model: string } | null;
};
const SHOWN = "chat { title labels { key value } modelConfig { model } }";

function update(api: ApiClient, input: object): Promise<{ chat: Shown | null; userErrors: UserError[] }> {
  return api.change("updateChat", input, SHOWN);
}

async function models(): Promise<Map<string, string>> {
  const { modelConfigs } = await server.api.get<{ modelConfigs: { id: string; model: string }[] }>(
    "{ modelConfigs { id model } }",
  );
  return new Map(modelConfigs.map(({ id, model }) => [model, id]));
}

describe("updateChat", () => {
  test("sets given fields, clears null ones and keeps absent ones", async () => {
    const chatId = await bert.createChat("[[demo: deltas=1]]", { title: "Old" });
    const modelConfigId = (await models()).get("claude-small");
    const labels = [{ key: "team", value: "a" }];
    const all = { title: "New", labels, modelConfig: { model: "claude-small" } };
    const shown = async (input: object) => (await update(bert, { chatId, ...input })).chat;
    expect([
      await shown({ title: " New ", labels, modelConfigId }),
      await shown({ title: "New" }),
      await shown({ labels: null }),
      await shown({ modelConfigId: null }),
      await shown({ labels }),
      await shown({}),
    ]).toEqual([
      all,
      all,
      { ...all, labels: [] },
      { ...all, labels: [], modelConfig: null },
      { ...all, modelConfig: null },
      { ...all, modelConfig: null },
    ]);
  });

  test("notifies the chat's subscribers of the new title", async () => {
    const { chatId, follower } = await bert.quietChat();
    await update(bert, { chatId, title: "Renamed" });
    await follower.until(({ title }) => title === "Renamed");
    await follower.close();
    expect(follower.transcript.breaches).toEqual([]);
  });

  test("works on archived chats, and the next turn uses the chosen model", async () => {
    const { chatId, follower } = await bert.quietChat();
    await follower.close();
    await bert.change("archiveChat", { chatId }, "chat { id }");
    const modelConfigId = (await models()).get("claude-small");
    const { chat } = await update(bert, { chatId, title: "Archived", modelConfigId });
    await bert.change("unarchiveChat", { chatId }, "chat { id }");
    const next = await bert.followFromNow(chatId);
    await bert.send(chatId, "Which one? [[demo: deltas=1]]");
    await next.until(({ log }) => log.at(-1) === "status WAITING");
    await next.close();
    expect([chat?.title, demo.requests.at(-1)?.model]).toEqual(["Archived", "claude-small"]);
  });

  test("refuses invalid values without changing anything, and other users' chats", async () => {
    const chatId = await bert.createChat("[[demo: deltas=1]]", { title: "Mine" });
    const paths = async (api: ApiClient, input: object) =>
      (await update(api, { chatId, ...input })).userErrors.map(({ code, path }) => [code, path?.join(".")]);
    const twice = [
      { key: "a", value: "1" },
      { key: "a", value: "2" },
    ];
    const gone = "model_00000000-0000-4000-8000-000000000000";
    expect([
      await paths(bert, { title: null }),
      await paths(bert, { title: "  " }),
      await paths(bert, { title: "x".repeat(201), labels: twice }),
      await paths(bert, { title: "Other", modelConfigId: gone }),
      await paths(await server.addUser("carla"), { title: "Hers" }),
    ]).toEqual([
      [["INVALID", "title"]],
      [["INVALID", "title"]],
      [
        ["INVALID", "title"],
        ["INVALID", "labels.1.key"],
      ],
      [["INVALID", "modelConfigId"]],
      [["NOT_FOUND", "chatId"]],
    ]);
    expect((await bert.chat(chatId))?.title).toBe("Mine");
  });
});

describe("regenerateChatTitle", () => {
  test("has the small model generate a title, without a trace in the chat", async () => {
    const { chatId, follower } = await bert.quietChat({
      parts: [{ text: { text: "repair the login page" } }],
    });
    const before = await bert.chat(chatId);
    const { chat, userErrors } = await bert.change<{
      chat: { title: string } | null;
      userErrors: UserError[];
    }>("regenerateChatTitle", { chatId }, "chat { title }");
    await follower.until(({ title }) => title === "Repair the login page");
    await follower.close();
    expect([chat, userErrors, demo.requests.at(-1)?.model]).toEqual([
      { title: "Repair the login page" },
      [],
      "claude-small",
    ]);
    expect((await bert.chat(chatId))?.messages).toEqual(before?.messages);
    expect([follower.transcript.breaches, follower.transcript.messages]).toEqual([
      [],
      before?.messages.nodes,
    ]);
  });

  test("is refused for other users' chats", async () => {
    const chatId = await bert.createChat("[[demo: deltas=1]]");
    const dora = await server.addUser("dora");
    const { userErrors } = await dora.change("regenerateChatTitle", { chatId }, "chat { id }");
    expect(userErrors.map(({ code }) => code)).toEqual(["NOT_FOUND"]);
  });

  test("reports the vendor's error if no title could be generated", async () => {
    const silent = await startDemoModel({
      host: "127.0.0.1",
      port: 0,
      script: () => ({ error: { status: 401, message: "invalid x-api-key" } }),
    });
    const other = await createTestEnvironment();
    const { api } = await other.start({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: silent.url });
    const chatId = await api.createChat("Hello");
    const { userErrors } = await api.change("regenerateChatTitle", { chatId }, "chat { id }");
    await other.remove();
    await silent.close();
    expect(userErrors).toMatchObject([
      { __typename: "Conflict", code: "UNAVAILABLE", path: null, currentStatus: null },
    ]);
    expect(userErrors[0]?.message).toContain("Anthropic");
  });
});

test("a new chat gets a title once, during its first turn, and every subscriber is notified", async () => {
  const { api } = await naming.start({
    ANTHROPIC_API_KEY: "key",
    ANTHROPIC_BASE_URL: demo.url,
    PARLEY_TITLES: "on",
  });
  const chatId = await api.createChat("please repair the login page of the shop [[demo: deltas=20 delay=5]]");
  const follower = api.follow(chatId);
  await follower.until(({ title }) => title === "Please repair the login page of");
  await follower.untilStatus("WAITING");
  await api.send(chatId, "and the logout [[demo: deltas=1]]");
  await follower.until(({ messages, status }) => messages.length === 4 && status === "WAITING");
  await follower.close();
  const { transcript } = follower;
  expect([transcript.breaches, transcript.log.filter((event) => event === "title").length <= 1]).toEqual([
    [],
    true,
  ]);
  expect((await api.chat(chatId))?.messages.nodes).toEqual(transcript.messages);
  const named = demo.requests.filter(({ headers }) => `chat_${headers["parley-chat-id"]}` === chatId);
  expect(named.filter(({ tools }) => tools.some(({ name }) => name === "propose_title")).length).toBe(1);
});

test("a list shows the model's last response in one line per chat", async () => {
  const erna = await server.addUser("erna");
  const { chatId, follower } = await erna.quietChat();
  await erna.send(chatId, "run `echo hi`");
  await follower.until(({ log }) => log.at(-1) === "status WAITING");
  await follower.close();
  const query = "{ chats { nodes { id lastTurnSummary } } }";
  type List = { chats: { nodes: { id: string; lastTurnSummary: string | null }[] } };
  expect((await erna.get<List>(query)).chats.nodes).toEqual([
    { id: chatId, lastTurnSummary: expect.any(String) },
  ]);
});

describe("preferences", () => {
  const FIELDS = "preferences { customPrompt defaultModelConfig { model } }";
  type Changed = { preferences: object | null; userErrors: UserError[] };
  const change = (api: ApiClient, input: object) =>
    api.change<Changed>("updateUserPreferences", input, FIELDS);

  test("start empty, keep absent fields and clear null ones", async () => {
    const fred = await server.addUser("fred");
    const read = async () => (await fred.get<{ viewer: object }>(`{ viewer { ${FIELDS} } }`)).viewer;
    const defaultModelConfigId = (await models()).get("claude-small");
    const empty = { customPrompt: "", defaultModelConfig: null };
    const full = { customPrompt: "Answer in verse.", defaultModelConfig: { model: "claude-small" } };
    expect(await read()).toEqual({ preferences: empty });
    expect(
      await change(fred, { customPrompt: "  Answer\u200B in verse.\u0000 \r\n\r\n", defaultModelConfigId }),
    ).toEqual({ preferences: full, userErrors: [] });
    expect((await change(fred, {})).preferences).toEqual(full);
    expect(await read()).toEqual({ preferences: full });
    expect((await change(fred, { customPrompt: null })).preferences).toEqual({ ...full, customPrompt: "" });
    expect((await change(fred, { defaultModelConfigId: null })).preferences).toEqual(empty);
    expect((await server.api.get<{ viewer: object }>(`{ viewer { ${FIELDS} } }`)).viewer).toEqual({
      preferences: empty,
    });
  });

  test("a user's custom prompt reaches the model in their own chats only", async () => {
    const ida = await server.addUser("ida");
    await change(ida, { customPrompt: "Answer in verse." });
    const systemFor = async (api: ApiClient) => {
      const { follower } = await api.quietChat();
      await follower.close();
      return demo.requests.at(-1)?.system.includes("Answer in verse.");
    };
    expect([await systemFor(ida), await systemFor(bert)]).toEqual([true, false]);
  });

  test("choose the model of new chats that choose none, as long as it may be chosen", async () => {
    const gina = await server.addUser("gina");
    await gina.createChat("[[demo: deltas=1]]");
    await change(gina, { defaultModelConfigId: (await models()).get("claude-small") });
    const modelOf = async (more: object) => {
      const input = { parts: [{ text: { text: "[[demo: deltas=1]]" } }], ...more };
      const { chat } = await gina.change<{ chat: Shown }>("createChat", input, SHOWN);
      return chat.modelConfig?.model;
    };
    const other = (await models()).get("claude-sonnet-5-5");
    expect([await modelOf({}), await modelOf({ modelConfigId: other })]).toEqual([
      "claude-small",
      "claude-sonnet-5-5",
    ]);
  });

  test("refuse values that are too long or do not exist", async () => {
    const hugo = await server.addUser("hugo");
    const gone = "model_00000000-0000-4000-8000-000000000000";
    const refusals = async (input: object) =>
      (await change(hugo, input)).userErrors.map(({ code, path }) => [code, path?.join(".")]);
    expect([
      await refusals({ customPrompt: "ä".repeat(65_537) }),
      await refusals({ customPrompt: "ä".repeat(65_536) }),
      await refusals({ defaultModelConfigId: gone }),
    ]).toEqual([[["INVALID", "customPrompt"]], [], [["INVALID", "defaultModelConfigId"]]]);
  });
});
