// An MCP server that receives the identity provider's token of the signed-in user, and knows them by it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiClient } from "../../support/clients/api-client.js";
import { freePort } from "../../support/network/free-port.js";
import {
  signIn,
  startIdentityProvider,
  type TestProvider,
  WindowlessBrowser,
} from "../../support/users/identity-provider.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { startTestMcpServer, words, type TestMcpServer } from "../../support/mcp/mcp-test-server.js";

const USERS = {
  ann: { preferred_username: "ann", name: "Ann" },
  ben: { preferred_username: "ben", name: "Ben" },
};

let environment: TestEnvironment;
let provider: TestProvider;
let tools: TestMcpServer;
let parley: TestParley;
let publicUrl: string;
let serverId: string;
beforeAll(async () => {
  const port = await freePort();
  publicUrl = `http://127.0.0.1:${port}`;
  [environment, provider, tools] = await Promise.all([
    createTestEnvironment(),
    startIdentityProvider(publicUrl, USERS, 3_600),
    startTestMcpServer({
      before: async (_method, { headers }) => ((await subjectOf(headers.authorization)) ? undefined : 401),
      tools: { whoami: async ({ authorization }) => words(`You are ${await subjectOf(authorization)}.`) },
    }),
  ]);
  parley = await environment.start({ ...provider.settings, PARLEY_PORT: String(port) });
  const input = {
    ...{ slug: "company", displayName: "Company", url: tools.url, transport: "STREAMABLE_HTTP" },
    ...{ auth: { userIdentity: true }, isEnabled: true, isPrivateNetworkAllowed: true },
  };
  type Made = { server: { id: string } | null };
  serverId = (await parley.api.change<Made>("createMcpServer", input, "server { id }")).server?.id ?? "";
});
afterAll(async () => {
  await environment.remove();
  await Promise.all([provider.close(), tools.stop()]);
});

/** The token's username, requested from the provider as other servers would; undefined for an invalid token. */
async function subjectOf(authorization = ""): Promise<string | undefined> {
  const answer = await fetch(`${provider.issuer}/me`, { headers: { authorization } });
  return answer.ok ? ((await answer.json()) as { sub: string }).sub : undefined;
}

/** Signs in with the provider and creates an API token. */
async function signInAs(username: string): Promise<ApiClient> {
  const browser = new WindowlessBrowser();
  await signIn(browser, publicUrl, username);
  const query = `mutation { createApiToken(input: { name: "test" }) { secret userErrors { message } } }`;
  const response = await fetch(`${publicUrl}/graphql`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", origin: publicUrl },
      cookie: browser.cookiesFor(publicUrl),
    },
    body: JSON.stringify({ query }),
  });
  const { data } = (await response.json()) as { data: { createApiToken: { secret: string } } };
  return new ApiClient(publicUrl, data.createApiToken.secret);
}

async function results(api: ApiClient, chatId: string): Promise<unknown[]> {
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING");
  await follower.close();
  const parts = (await api.chat(chatId))?.messages.nodes.flatMap((message) => message.parts) ?? [];
  return parts.filter(({ __typename: type }) => type === "ToolResultPart").map(({ result }) => result);
}

test("each user's turn authenticates them to the server without any interaction", async () => {
  const clients = await Promise.all([signInAs("ann"), signInAs("ben")]);
  const answers = await Promise.all(
    clients.map(async (api) => {
      const selecting = { workspaceId: null, mcpServerIds: [serverId] };
      return results(api, await api.createChat("call company__whoami", selecting));
    }),
  );
  expect(answers).toEqual([["You are ann."], ["You are ben."]]);
});

test("a user who did not sign in through the provider has no identity token, and is informed", async () => {
  const stranger = await parley.addUser("stranger");
  const input = { parts: [{ text: { text: "Hello" } }], workspaceId: null, mcpServerIds: [serverId] };
  const { chat, userErrors } = await stranger.change("createChat", input, "chat { id }");
  expect([chat, userErrors]).toMatchObject([
    null,
    [{ __typename: "McpAuthRequired", code: "AUTH_REQUIRED" }],
  ]);
});
