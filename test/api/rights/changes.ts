// Access to each mutation that is not for admins. Objects not visible to a caller are not found.
import { changeOf, ALL_USERS, type Rule } from "./callers.js";
import { change, changing, type RootEntry, type RootEntries } from "./entries.js";
import { browser } from "../../support/clients/browser-subscription.js";
import type { World } from "./world.js";

const parts = [{ text: { text: "[[demo: deltas=1]]" } }];

/** The owner and admins, who steer everybody's chats. */
const STEER = changeOf("shown");
/** Objects that only their owner can change. */
const OWN = changeOf("shown", { admin: "NOT_FOUND" });
/** No turns use a disabled MCP server, not even an admin's. */
const DISABLED = changeOf("INVALID");
const EVERYBODY_INVALID: Rule = { owner: "INVALID", other: "INVALID", admin: "INVALID" };

const aChat = async ({ spare }: World) => ({ chatId: await spare.chat() });
const onChat = (rule: Rule = STEER) => change(rule, "chat { id }", aChat);

/** The entries of a mutation that selects MCP servers: an enabled and a disabled one. */
function choosing(
  rule: Rule,
  disabledRule: Rule,
  input: (world: World) => object | Promise<object>,
): RootEntry[] {
  const more = (which: "enabled" | "disabled") => async (world: World) => ({
    ...(await input(world)),
    mcpServerIds: [world[which].open],
  });
  return [
    { ...change(rule, "chat { id }", input) },
    { when: "McpServer", ...change(rule, "chat { id }", more("enabled")) },
    { when: "McpServer, disabled", ...change(disabledRule, "chat { id }", more("disabled")) },
  ];
}

const chats: RootEntries = {
  createChat: choosing(ALL_USERS, EVERYBODY_INVALID, () => ({ parts, workspaceId: null })),
  updateChat: choosing(STEER, DISABLED, async ({ spare }) => ({
    chatId: await spare.chat(),
    title: "Other",
  })),
  archiveChat: onChat(),
  unarchiveChat: onChat(),
  // There is nothing to generate a title or a summary from: permitted callers get a conflict.
  regenerateChatTitle: onChat(changeOf("INVALID")),
  compactChat: onChat(changeOf("CONFLICT")),
  // No turn has failed: permitted callers get a conflict.
  retryChat: onChat(changeOf("CONFLICT")),
  // Only owners have a read status.
  markChatRead: onChat(changeOf("shown", { admin: "INVALID" })),
  interruptChat: onChat(),
  clearChatContext: onChat(),
  sendChatMessage: choosing(STEER, DISABLED, async ({ spare }) => ({ chatId: await spare.chat(), parts })),
  editChatMessage: choosing(STEER, DISABLED, async ({ spare }) => ({
    messageId: await spare.message(),
    parts,
  })),
  promoteQueuedMessage: change(STEER, "chat { id }", async ({ spare }) => ({
    queuedMessageId: await spare.queued(),
  })),
  deleteQueuedMessage: change(STEER, "deletedId", async ({ spare }) => ({
    queuedMessageId: await spare.queued(),
  })),
  // No call is pending: permitted callers get a conflict.
  submitToolResults: change(changeOf("CONFLICT"), "chat { id }", async ({ spare }) => ({
    chatId: await spare.chat(),
    results: [],
  })),
  refreshChatGit: change(STEER, "git { scannedAt }", ({ chats: { full } }) => ({ chatId: full })),
  refreshChatDiff: change(STEER, "diffStatus { url }", ({ chats: { full } }) => ({ chatId: full })),
};

const aWorkspace = async ({ spare }: World) => ({ workspaceId: await spare.workspace() });
const workspaces: RootEntries = {
  createWorkspace: [
    change(ALL_USERS, "workspace { id }", ({ templateId }) => ({ templateId })),
    {
      when: "disabled",
      ...change(
        { owner: "NOT_FOUND", other: "NOT_FOUND", admin: "NOT_FOUND" },
        "workspace { id }",
        ({ disabledTemplateId: templateId }) => ({ templateId }),
      ),
    },
  ],
  startWorkspace: change(STEER, "workspace { id }", aWorkspace),
  stopWorkspace: change(STEER, "workspace { id }", aWorkspace),
  deleteWorkspace: change(STEER, "deletedId", aWorkspace),
  allowWorkspaceMcpServer: change(STEER, "workspace { id }", ({ spare }) => spare.mcpRequest()),
  forbidWorkspaceMcpServer: change(STEER, "workspace { id }", ({ spare }) => spare.mcpRequest()),
  attachWorkspace: change(STEER, "chat { id }", async ({ spare }) => ({
    ...{ chatId: await spare.chat(), workspaceId: await spare.workspace() },
  })),
};

const own: RootEntries = {
  createFileUpload: change(ALL_USERS, "file { id }", () => ({
    ...{ name: "a.txt", mediaType: "text/plain", sizeBytes: 1 },
  })),
  registerPushSubscription: change(ALL_USERS, "subscription { id }", () => browser()),
  unregisterPushSubscription: change(OWN, "deletedId", async ({ spare }) => ({
    endpoint: (await spare.browser()).endpoint,
  })),
  connectGitHost: change(ALL_USERS, "account { id }", () => ({ host: "git.example", token: "secret" })),
  disconnectGitHost: change(OWN, "deletedId", async ({ spare }) => ({
    accountId: await spare.gitConnection(),
  })),
  createApiToken: change(ALL_USERS, "secret", () => ({ name: "mine" })),
  revokeApiToken: change(OWN, "deletedId", async ({ spare }) => ({ tokenId: await spare.token() })),
  updateUserPreferences: change(ALL_USERS, "preferences { customPrompt }", () => ({
    customPrompt: "Be brief.",
  })),
  setViewerProviderKey: change(ALL_USERS, "provider { id }", async ({ spare }) => ({
    ...{ providerId: await spare.provider({ keyPolicy: "USER" }), apiKey: { set: "secret" } },
  })),
  startMcpOauth: [
    // A server without user authorization, which is only reported to callers who can see it.
    {
      rule: EVERYBODY_INVALID,
      ask: ({ enabled }, name) => changing(name, { serverId: enabled.open }, "authorizationUrl"),
      at: "authorizationUrl",
    },
    {
      when: "disabled",
      rule: { owner: "NOT_FOUND", other: "NOT_FOUND", admin: "INVALID" },
      ask: ({ disabled }, name) => changing(name, { serverId: disabled.open }, "authorizationUrl"),
      at: "authorizationUrl",
    },
  ],
  disconnectMcpServer: [
    change(ALL_USERS, "server { id }", ({ enabled }) => ({ serverId: enabled.personal })),
    {
      when: "disabled",
      ...change(
        { owner: "NOT_FOUND", other: "NOT_FOUND", admin: "shown" },
        "server { id }",
        ({ disabled }) => ({
          serverId: disabled.personal,
        }),
      ),
    },
  ],
};

export const changes: RootEntries = { ...chats, ...workspaces, ...own };
