// The MCP servers that a chat uses, as selected through the API.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { encodeId } from "../../../src/domain/common/ids.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { startTestMcpServer, words, type TestMcpServer } from "../../support/mcp/mcp-test-server.js";

let environment: TestEnvironment;
let parley: TestParley;
let ann: ApiClient;
let tools: TestMcpServer;
beforeAll(async () => {
  [environment, tools] = await Promise.all([
    createTestEnvironment(),
    startTestMcpServer({ tools: { echo: ({ args }) => words(`Echo: ${String(args["message"])}`) } }),
  ]);
  parley = await environment.start();
  ann = await parley.addUser("ann");
});
afterEach(async () => {
  const { mcpServers } = await parley.api.get<{ mcpServers: { id: string }[] }>(
    "{ mcpServers(includeDisabled: true) { id } }",
  );
  for (const { id } of mcpServers) await parley.api.change("deleteMcpServer", { serverId: id }, "deletedId");
});
afterAll(async () => {
  await environment.remove();
  await tools.stop();
});

/** Its public id. */
async function server(slug: string, overrides: object = {}): Promise<string> {
  const input = {
    ...{ slug, displayName: slug, url: tools.url, transport: "STREAMABLE_HTTP", auth: { none: true } },
    ...{ isEnabled: true, isPrivateNetworkAllowed: true },
    ...overrides,
  };
  type Made = { server: { id: string } | null; userErrors: unknown[] };
  const made = await parley.api.change<Made>("createMcpServer", input, "server { id }");
  if (!made.server) throw new Error(`No server was made: ${JSON.stringify(made.userErrors)}`);
  return made.server.id;
}

async function selected(chatId: string): Promise<string[]> {
  const query = `query ($chatId: ID!) { chat(id: $chatId) { mcpServers { slug } } }`;
  type Shown = { chat: { mcpServers: { slug: string }[] } };
  return (await ann.get<Shown>(query, { chatId })).chat.mcpServers.map(({ slug }) => slug);
}

test("a new chat has those that are on by default unless it says otherwise, and always those that are forced on", async () => {
  await server("forced", { availability: "FORCE_ON" });
  await server("usual", { availability: "DEFAULT_ON" });
  const extra = await server("extra");
  await server("disabled", { availability: "FORCE_ON", isEnabled: false });
  const create = (more: object) => ann.createChat("[[demo: deltas=1]]", { workspaceId: null, ...more });
  expect(await selected(await create({}))).toEqual(["forced", "usual"]);
  expect(await selected(await create({ mcpServerIds: [extra, extra] }))).toEqual(["extra", "forced"]);
  expect(await selected(await create({ mcpServerIds: [] }))).toEqual(["forced"]);
});

test("send and update change the selection, and keep it if absent", async () => {
  const [one, two] = [await server("one"), await server("two")];
  const chatId = await ann.createChat("[[demo: deltas=1]]", { workspaceId: null, mcpServerIds: [one] });
  await ann.send(chatId, "[[demo: deltas=1]]");
  expect(await selected(chatId)).toEqual(["one"]);
  await ann.change("updateChat", { chatId, mcpServerIds: [two] }, "chat { id }");
  expect(await selected(chatId)).toEqual(["two"]);
  await ann.change("updateChat", { chatId, title: "Else", mcpServerIds: null }, "chat { id }");
  expect(await selected(chatId)).toEqual(["two"]);
});

test("an unknown or disabled server is refused with its path, and nothing is created", async () => {
  const [one, off] = [await server("one"), await server("off", { isEnabled: false })];
  const gone = encodeId("mcp", "00000000-0000-4000-8000-000000000000");
  const parts = [{ text: { text: "Hello" } }];
  const chatId = await ann.createChat("[[demo: deltas=1]]", { workspaceId: null });
  for (const [wrong, index] of [
    [[one, gone], "1"],
    [[off], "0"],
  ] as const) {
    const refused = [
      await ann.change("createChat", { parts, mcpServerIds: wrong }, "chat { id }"),
      await ann.send(chatId, "Hello", { mcpServerIds: wrong }),
      await ann.change("updateChat", { chatId, mcpServerIds: wrong }, "chat { id status }"),
    ];
    for (const { chat, userErrors } of refused) {
      expect(chat).toBeNull();
      expect(userErrors).toMatchObject([
        { __typename: "InvalidInput", code: "INVALID", path: ["mcpServerIds", index] },
      ]);
    }
  }
  expect(await selected(chatId)).toEqual([]);
});

test("selecting an unauthorized server is refused with its name; defaults are not", async () => {
  const wanting = await server("wanting", { auth: { oauth2: { scopes: [] } }, availability: "DEFAULT_ON" });
  const query = `mutation ($input: CreateChatInput!) { createChat(input: $input) {
    chat { id } userErrors { code path ... on McpAuthRequired { servers { slug } } } } }`;
  const input = { parts: [{ text: { text: "Hello" } }], workspaceId: null };
  const named = await ann.get(query, { input: { ...input, mcpServerIds: [wanting] } });
  expect(named).toEqual({
    createChat: {
      chat: null,
      userErrors: [{ code: "AUTH_REQUIRED", path: ["mcpServerIds"], servers: [{ slug: "wanting" }] }],
    },
  });
  const chatId = await ann.createChat("[[demo: deltas=1]]", { workspaceId: null });
  const follower = ann.follow(chatId);
  await follower.untilStatus("WAITING");
  await follower.close();
  const question = `query ($chatId: ID!) { chat(id: $chatId) { messages(last: 1) { nodes { parts {
    __typename ... on NoticePart { level text mcpServer { slug } } } } } } }`;
  expect(await ann.get(question, { chatId })).toMatchObject({
    chat: {
      messages: {
        nodes: [
          { parts: [{ __typename: "NoticePart", level: "WARNING", mcpServer: { slug: "wanting" } }, {}] },
        ],
      },
    },
  });
});

test("the model calls a selected server's tool, and users see which server provides it", async () => {
  const id = await server("mine");
  const chatId = await ann.createChat('call mine__echo with `{"message": "hello"}`', {
    workspaceId: null,
    mcpServerIds: [id],
  });
  const follower = ann.follow(chatId);
  await follower.untilStatus("WAITING");
  await follower.close();
  const query = `query ($chatId: ID!) { chat(id: $chatId) { messages(last: 10) { nodes { role parts {
    ... on ToolCallPart { toolName mcpServer { id slug } } ... on ToolResultPart { result isError } } } } } }`;
  expect(await ann.get(query, { chatId })).toMatchObject({
    chat: {
      messages: {
        nodes: [
          { role: "USER" },
          {
            parts: expect.arrayContaining([
              { toolName: "mine__echo", mcpServer: { id, slug: "mine" } },
            ]) as unknown,
          },
          { parts: [{ result: "Echo: hello", isError: false }] },
          { role: "ASSISTANT" },
        ],
      },
    },
  });
});
