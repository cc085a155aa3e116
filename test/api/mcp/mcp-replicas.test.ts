// MCP server selections of queued messages, with two servers on one database, one of which is killed during a call.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ApiClient, Follower } from "../../support/clients/api-client.js";
import { startGatedModel } from "../../support/models/gated-model.js";
import { createTestEnvironment, type TestEnvironment } from "../../support/parley.js";
import {
  startTestMcpServer,
  words,
  type TestMcpServer,
  type TestMcpServerOptions,
} from "../../support/mcp/mcp-test-server.js";

let environment: TestEnvironment;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  environment = await createTestEnvironment();
});
afterEach(async () => {
  await environment.remove();
  for (const end of ends.splice(0)) await end();
});

async function serve(options: TestMcpServerOptions): Promise<TestMcpServer> {
  const server = await startTestMcpServer(options);
  ends.push(() => server.stop());
  return server;
}

/** Its public id. */
async function register(admin: ApiClient, slug: string, { url }: TestMcpServer): Promise<string> {
  const input = {
    ...{ slug, displayName: slug, url, transport: "STREAMABLE_HTTP", auth: { none: true } },
    ...{ isEnabled: true, isPrivateNetworkAllowed: true },
  };
  type Made = { server: { id: string } | null };
  const { server } = await admin.change<Made>("createMcpServer", input, "server { id }");
  if (!server) throw new Error(`There is no server ${slug}.`);
  return server.id;
}

test("a queued message keeps its own selection of MCP servers until it is sent, whichever server sends it", async () => {
  const model = await startGatedModel(({ turns }) => {
    const last = turns.findLast(({ role }) => role === "user");
    const isFirst = last?.role === "user" && last.text === "begin";
    return isFirst ? { text: ["Working", " on it"], delayMs: 1 } : { text: "Done." };
  });
  ends.push(() => model.close());
  const [first, second] = [await environment.start(model.settings), await environment.start(model.settings)];
  const tools = await serve({ tools: { echo: () => words("Echo.") } });
  const ids: Record<string, string> = {};
  for (const slug of ["one", "two", "three"]) ids[slug] = await register(first.api, slug, tools);
  const selecting = (slug: string) => ({ mcpServerIds: [ids[slug]] });
  const selected = async (chatId: string) => {
    const query = `query ($chatId: ID!) { chat(id: $chatId) { mcpServers { slug } } }`;
    type Shown = { chat: { mcpServers: { slug: string }[] } };
    const { chat } = await second.api.get<Shown>(query, { chatId });
    return chat.mcpServers.map(({ slug }) => slug);
  };

  const chatId = await first.api.createChat("begin", { workspaceId: null, ...selecting("one") });
  const follower = first.api.follow(chatId);
  await follower.until(({ preview }) => preview !== null);
  await second.api.send(chatId, "with two", selecting("two"));
  await first.api.send(chatId, "as it is then");
  const { queuedMessage } = await second.api.send(chatId, "with three", selecting("three"));
  expect(await selected(chatId)).toEqual(["one"]);
  await second.api.change("promoteQueuedMessage", { queuedMessageId: queuedMessage?.id }, "chat { id }");
  await follower.until(({ messages, status }) => messages.length === 8 && status === "WAITING");
  expect(follower.transcript.breaches).toEqual([]);
  await follower.close();

  const asked = model.requests.map(({ turns, tools: toolList }) => {
    const last = turns.findLast(({ role }) => role === "user");
    const own = toolList.map(({ name }) => name).filter((name) => name.includes("__"));
    return [last?.role === "user" ? last.text : "", ...own];
  });
  expect(asked).toEqual([
    ["begin", "one__echo"],
    ["with three", "three__echo"],
    ["with two", "two__echo"],
    ["as it is then", "two__echo"],
  ]);
  expect(await selected(chatId)).toEqual(["two"]);
});

test("a call whose server is killed is repeated by the next one, and returns one result", async () => {
  const lease = { PARLEY_LEASE_MS: "2000", PARLEY_HEARTBEAT_MS: "500" };
  let notify = (): void => undefined;
  const called = new Promise<void>((resolve) => (notify = resolve));
  let count = 0;
  const tools = await serve({
    tools: {
      slow() {
        count += 1;
        notify();
        return count === 1 ? new Promise<object>(() => undefined) : words(`Call ${count}.`);
      },
    },
  });
  const server = await environment.spawn(lease);
  const id = await register(server.api, "held", tools);
  const selecting = { workspaceId: null, mcpServerIds: [id] };
  const chatId = await server.api.createChat("call held__slow", selecting);
  const before = server.api.follow(chatId);
  const { transcript } = before;
  await Promise.all([called, before.until(({ messages }) => messages.length === 2)]);
  const next = await environment.spawn(lease);
  await server.end("SIGKILL");

  transcript.reopened();
  const follower = new Follower(next.api, chatId, transcript);
  await follower.untilStatus("WAITING");
  await follower.close();
  const shown = await next.api.chat(chatId);
  expect(transcript.breaches).toEqual([]);
  expect(transcript.messages).toEqual(shown?.messages.nodes);
  expect(shown?.messages.nodes.map(({ role }) => role)).toEqual(["USER", "ASSISTANT", "TOOL", "ASSISTANT"]);
  expect(shown?.messages.nodes[2]?.parts).toMatchObject([{ result: "Call 2.", isError: false }]);
  expect(count).toBe(2);
});
