// The fixture of the access tests: a user who owns one object of every kind, two other users, and limited tokens.
import { randomUUID } from "node:crypto";
import { decodeId, encodeId } from "../../../src/domain/common/ids.js";
import type { TokenScope } from "../../../src/domain/users/viewer.js";
import { insertTestFile } from "../../support/files.js";
import { browser } from "../../support/clients/browser-subscription.js";
import { markDiffStale } from "../../../src/store/git/diff-statuses.js";
import { createToken } from "../../../src/store/users/tokens.js";
import { changeUser } from "../../../src/store/users/user-administration.js";
import { ApiClient } from "../../support/clients/api-client.js";
import { startGitHubShaped } from "../../support/git/github-shaped.js";
import { greeterProject, type ShapedHost } from "../../support/git/git-host-server.js";
import { createTestEnvironment, type TestParley, type TestEnvironment } from "../../support/parley.js";
import { insertChat, insertMessage, insertQueue, insertViewer } from "../../support/database/rows.js";
import { insertAllowedMcpEntry, insertMcpRequest } from "../../support/database/mcp-entry-rows.js";
import { insertSomeTemplate, insertSomeWorkspace } from "../../support/database/workspace-rows.js";
import { startTestMcpServer, words } from "../../support/mcp/mcp-test-server.js";
import { CALLERS, type Caller } from "./callers.js";

export type World = Awaited<ReturnType<typeof makeWorld>>;

export async function makeWorld() {
  const [environment, toolServer, gitHost] = await Promise.all([
    createTestEnvironment(),
    startTestMcpServer({ tools: { echo: () => words("Hello") } }),
    startGitHubShaped(),
  ]);
  // Gives every field of the objects a value.
  const server = await environment.start({
    PARLEY_DEBUG_RECORDS: "on",
    PARLEY_GIT_HOSTS_PRIVATE_NETWORK: "on",
  });
  const [owner, other] = [await server.addUser("owner"), await server.addUser("other")];
  const ownerId = await idOf(owner);
  await giveThings(environment, ownerId);
  const servers = serversOf(server.api, toolServer.url);
  const [enabled, disabled] = [await servers.pair(owner), await servers.pair(owner)];
  const input = {
    labels: [{ key: "team", value: "core" }],
    parts: [
      { text: { text: "[[demo: deltas=1 reasoning search]]" } },
      { fileReference: { path: "README.md", startLine: 1, endLine: 1, content: "# Greeter" } },
    ],
    workspaceId: server.workspaceId,
  };
  const chats = {
    /** With a label and many kinds of parts, in the owner's workspace. */
    full: await talk(owner, "", input),
    /** Its model call failed. */
    failed: await talk(owner, "[[demo: error=401]]"),
    /** Has a tool call of a server that is enabled, or was disabled later. */
    calling: enabled.calling,
    callingDisabled: disabled.calling,
    /** Has a notice about a server that needs authorization. */
    noticed: enabled.noticed,
    noticedDisabled: disabled.noticed,
  };
  await giveBranch(server.parley, { owner, chatId: chats.full, gitHost });
  for (const serverId of [disabled.open, disabled.personal])
    await servers.update(serverId, { isEnabled: false });
  const { database } = server.parley;
  // No agent is started for this spec: the tests do not use the workspace.
  const template = await insertSomeTemplate(database, { spec: { environment: 1 } });
  const disabledTemplate = await insertSomeTemplate(database, { isEnabled: false });
  const aWorkspace = () => insertSomeWorkspace(database, { ownerId, templateId: template.id });
  const workspaceId = decodeId("ws", server.workspaceId) ?? "";
  await insertAllowedMcpEntry(database, { workspaceId, userId: ownerId });
  const spare = { ...sparesOf(server, owner, ownerId), ...modelsBy(server.api) };
  return {
    url: server.api.url,
    clients: await clientsOf(server, owner, other),
    ...{ ownerId: encodeId("user", ownerId), enabled, disabled, chats, workspaceId: server.workspaceId },
    templateId: encodeId("tpl", template.id),
    disabledTemplateId: encodeId("tpl", disabledTemplate.id),
    messageId: await firstMessage(owner, chats.full),
    queuedId: await spare.queued(),
    fileId: await spare.file(),
    tokenId: await spare.token(),
    gitConnectionId: await spare.gitConnection(),
    pushId: (await spare.browser()).id,
    ...(await modelOf(owner)),
    auditId: await newestAudit(server.api),
    /** Azure has no API to list models. */
    unlistedProviderId: await spare.provider({ kind: "AZURE_OPENAI", baseUrl: "https://azure.example/" }),
    /** A model of a provider without a key. */
    keylessModelId: await spare.model({ keyPolicy: "USER" }),
    /** Creates a new object on each call, for mutations that consume it. Users and MCP servers have no owner. */
    spare: {
      ...spare,
      template: async () => encodeId("tpl", (await insertSomeTemplate(database)).id),
      workspace: async () => encodeId("ws", await aWorkspace()),
      /** An entry that asks for permission, in a workspace of its own. */
      mcpRequest: async () => {
        const id = await aWorkspace();
        return { workspaceId: encodeId("ws", id), hash: await insertMcpRequest(database, id) };
      },
      toolServer: () => servers.made({ none: true }),
    },
    async remove() {
      await environment.remove();
      await Promise.all([toolServer.stop(), gitHost.close()]);
    },
  };
}

async function idOf(api: ApiClient): Promise<string> {
  const { viewer } = await api.get<{ viewer: { user: { id: string } } }>("{ viewer { user { id } } }");
  return decodeId("user", viewer.user.id) ?? "";
}

/** Makes the owner the owner of everything, and gives all fields for admins a value. */
async function giveThings({ database, repository }: TestEnvironment, ownerId: string): Promise<void> {
  const { dataSource } = database;
  await dataSource.query("UPDATE workspaces SET owner_id = $1", [ownerId]);
  // The demo model does not use this URL.
  await dataSource.query("UPDATE model_providers SET base_url = 'https://models.example/'");
  // Limits are disabled, so they have no effect.
  await dataSource.query("UPDATE usage_limit_policy SET default_limit_micros = 1000000");
  await dataSource.query("INSERT INTO usage_limit_overrides (user_id, limit_micros) VALUES ($1, 1)", [
    ownerId,
  ]);
  await repository.write("AGENTS.md", "Be kind.\n");
  await repository.write(".mcp.json", '{"mcpServers": {"asks": {"command": "never-allowed"}}}');
}

/** Puts the chat on a branch with a pull request. */
async function giveBranch(
  { database }: TestParley["parley"],
  { owner, chatId, gitHost }: { owner: ApiClient; chatId: string; gitHost: ShapedHost },
): Promise<void> {
  gitHost.projects.set("ada/greeter", greeterProject());
  gitHost.open("ada/greeter", { number: 7, branch: "hello" });
  await owner.change("connectGitHost", { host: gitHost.host, token: "token-of-ada" }, "account { id }");
  const work = { branch: "hello", remoteOrigin: gitHost.originOf("ada/greeter") };
  await markDiffStale(database, decodeId("chat", chatId) ?? "", work);
  await owner.change("refreshChatDiff", { chatId }, "diffStatus { url }");
}

function serversOf(admin: ApiClient, url: string) {
  const made = async (auth: object, more: object = {}): Promise<string> => {
    const slug = newSlug();
    const input = {
      ...{ slug, displayName: slug, url, transport: "STREAMABLE_HTTP", auth },
      ...{ isEnabled: true, isPrivateNetworkAllowed: true, ...more },
    };
    type Made = { server: { id: string } | null; userErrors: object[] };
    const { server, userErrors } = await admin.change<Made>("createMcpServer", input, "server { id }");
    if (!server) throw new Error(JSON.stringify(userErrors));
    return server.id;
  };
  const update = (serverId: string, change: object) =>
    admin.change("updateMcpServer", { serverId, ...change }, "server { id }");
  return {
    made,
    update,
    /** A server without authorization that a chat has used, and one that lacks the user's authorization. */
    async pair(owner: ApiClient) {
      const [slug, open] = [newSlug(), await made({ none: true })];
      await update(open, { displayName: slug });
      const { node } = await admin.get<{ node: { slug: string } }>(
        "query ($id: ID!) { node(id: $id) { ... on McpServer { slug } } }",
        { id: open },
      );
      const order = `call ${node.slug}__echo with \`{"message": "hello"}\``;
      const calling = await talk(owner, order, { mcpServerIds: [open] });
      // Chats without a selection include this server and get a notice that it needs authorization.
      const personal = await made({ oauth2: {} }, { availability: "DEFAULT_ON" });
      const noticed = await talk(owner, "[[demo: deltas=1]]");
      await update(personal, { availability: "DEFAULT_OFF" });
      return { open, personal, calling, noticed };
    },
  };
}

const newSlug = () => `s-${randomUUID().slice(0, 8)}`;

/** Creates an idle chat of that user, after one turn. */
async function talk(api: ApiClient, text: string, more: object = {}): Promise<string> {
  const chatId = await api.createChat(text, { workspaceId: null, ...more });
  const follower = api.follow(chatId);
  await follower.untilStatus("WAITING", "ERROR");
  await follower.close();
  return chatId;
}

async function firstMessage(api: ApiClient, chatId: string): Promise<string> {
  const query = "query ($id: ID!) { chat(id: $id) { messages { nodes { id role } } } }";
  type Read = { chat: { messages: { nodes: { id: string; role: string }[] } } };
  const { chat } = await api.get<Read>(query, { id: chatId });
  return chat.messages.nodes.find(({ role }) => role === "ASSISTANT")?.id ?? "";
}

async function newestAudit(admin: ApiClient): Promise<string> {
  type Read = { auditLog: { nodes: { id: string }[] } };
  const { auditLog } = await admin.get<Read>("{ auditLog(first: 1) { nodes { id } } }");
  return auditLog.nodes[0]?.id ?? "";
}

async function modelOf(api: ApiClient): Promise<{ modelId: string; providerId: string }> {
  type Read = { modelConfigs: { id: string; provider: { id: string } }[] };
  const { modelConfigs } = await api.get<Read>("{ modelConfigs { id provider { id } } }");
  const [first] = modelConfigs;
  return { modelId: first?.id ?? "", providerId: first?.provider.id ?? "" };
}

/** Providers and models created by the admin. */
function modelsBy(admin: ApiClient) {
  type Made = { provider: { id: string } | null; modelConfig: { id: string } | null };
  const provider = async (more: object = {}): Promise<string> => {
    const input = { kind: "ANTHROPIC", displayName: newSlug(), apiKey: { set: "secret" }, ...more };
    return (await admin.change<Made>("createModelProvider", input, "provider { id }")).provider?.id ?? "";
  };
  const model = async (more: object = {}): Promise<string> => {
    const input = { providerId: await provider(more), model: "claude-next", displayName: "Claude" };
    return (await admin.change<Made>("createModelConfig", input, "modelConfig { id }")).modelConfig?.id ?? "";
  };
  return { provider, model };
}

function sparesOf({ parley: { database } }: TestParley, owner: ApiClient, ownerId: string) {
  const chat = () => insertChat(database, { ownerId });
  return {
    slug: newSlug,
    chat: async () => encodeId("chat", await chat()),
    message: async () =>
      encodeId("msg", await insertMessage(database, { chatId: await chat(), text: "Hello" })),
    queued: async () => {
      const chatId = await chat();
      const ids = await insertQueue(database, { chatId, authorId: ownerId, texts: ["Later"] });
      return encodeId("que", ids[0] ?? "");
    },
    file: async () => {
      const bytes = Buffer.from("the owner's");
      const notes = { name: "notes.txt", mediaType: "text/plain", bytes };
      return encodeId("file", await insertTestFile(database, { ownerId }, notes));
    },
    token: async () => {
      const { id } = await createToken(database, { userId: ownerId, name: "spare" });
      return encodeId("token", id);
    },
    browser: async () => {
      const input = browser();
      type Registered = { subscription: { id: string } };
      const made = await owner.change<Registered>("registerPushSubscription", input, "subscription { id }");
      return { id: made.subscription.id, endpoint: input.endpoint };
    },
    gitConnection: async () => {
      const input = { host: `${newSlug()}.example`, token: "secret" };
      type Connected = { account: { id: string } };
      return (await owner.change<Connected>("connectGitHost", input, "account { id }")).account.id;
    },
    user: async ({ isActive = true } = {}) => {
      const { userId } = await insertViewer(database);
      if (!isActive) await changeUser(database, userId, { isActive });
      return encodeId("user", userId);
    },
  };
}

async function clientsOf(server: TestParley, owner: ApiClient, other: ApiClient) {
  const { url } = server.api;
  const withScopes = async (api: ApiClient, ...scopes: TokenScope[]) => {
    const wanted = { userId: await idOf(api), name: scopes.join(), scopes };
    return new ApiClient(url, (await createToken(server.parley.database, wanted)).token);
  };
  const clients: Record<Caller, ApiClient> = {
    anonymous: new ApiClient(url, null),
    owner,
    "other member": other,
    admin: server.api,
    "owner's READ": await withScopes(owner, "read"),
    "owner's CHAT": await withScopes(owner, "chat"),
    "admin's ADMIN": await withScopes(server.api, "admin"),
    "admin's READ": await withScopes(server.api, "read"),
    "admin's READ+ADMIN": await withScopes(server.api, "read", "admin"),
  };
  return CALLERS.map((caller) => [caller, clients[caller]] as const);
}
