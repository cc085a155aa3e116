// Access to models, MCP servers, workspaces and the deployment.
import { ADMINS, ADMINS_ASK, ALL_USERS, NO_USERS, OWNER_AND_ADMINS } from "./callers.js";
import { changing, nested, onNode, type Reach, type TypeEntries } from "./entries.js";

/** An enabled MCP server, and a disabled one, which is only visible to admins. */
const onServers = (path = ""): readonly Reach[] => {
  const inner = (selection: string) => (path === "" ? selection : nested(path, selection));
  const at = path === "" ? "" : `.${path}`;
  return [
    { rule: ALL_USERS, ...onNode("McpServer", ({ enabled }) => enabled.open, at, inner) },
    {
      when: "disabled",
      rule: ADMINS,
      ...onNode("McpServer", ({ disabled }) => disabled.open, at, inner),
      guarded: { admin: ADMINS },
    },
  ];
};
/** The result of an admin's test of a server; `well`: of a reachable one. */
const tried = (path: string, which: "enabled" | "personal" = "enabled"): Reach => ({
  kind: "administer",
  rule: ADMINS_ASK,
  at: `testMcpServer.${path}`,
  ask: ({ enabled }, selection) => {
    const serverId = which === "enabled" ? enabled.open : enabled.personal;
    return changing("testMcpServer", { serverId }, nested(path, selection));
  },
});
/** The refusal of a chat with a server that the user has not authorized. */
const refusedFor = (which: "enabled" | "disabled"): Reach => ({
  kind: "change",
  rule: ALL_USERS,
  at: "createChat.userErrors",
  ask: (world, selection) => {
    const input = { parts: [{ text: { text: "Hello" } }], mcpServerIds: [world[which].personal] };
    const query = `mutation ($input: CreateChatInput!) { createChat(input: $input) { userErrors { ... on McpAuthRequired { ${selection} } } } }`;
    return { query, variables: { input } };
  },
});
const inWorkspace = (path: string): Reach => ({
  rule: OWNER_AND_ADMINS,
  ...onNode(
    "Workspace",
    ({ workspaceId }) => workspaceId,
    `.${path}`,
    (selection) => nested(path, selection),
  ),
});
const ofRefusals = { partOf: ["UserError"] };

/** Objects in a provider's list of models, by their path. */
const discovered = (provider: "providerId" | "unlistedProviderId", path: string): Reach => ({
  rule: ADMINS_ASK,
  at: path === "" ? "discoverModels" : `discoverModels.${path}`,
  ask: (world, selection) => ({
    query: `query ($id: ID!) { discoverModels(providerId: $id) { ${path === "" ? selection : nested(path, selection)} } }`,
    variables: { id: world[provider] },
  }),
});

const models: TypeEntries = {
  ModelProvider: {
    fields: "createdAt displayName hasApiKey hasViewerKey id isDeleted isEnabled keyPolicy kind models",
    guarded: { baseUrl: ADMINS, admin: ADMINS },
    reached: [{ rule: ALL_USERS, ...onNode("ModelProvider", ({ providerId }) => providerId) }],
  },
  ModelProviderAdmin: {
    fields: "hasEnvironmentKey isBaseUrlFromEnvironment isPrivateNetworkAllowed openaiApi",
    reached: [
      {
        rule: ADMINS,
        ...onNode(
          "ModelProvider",
          ({ providerId }) => providerId,
          ".admin",
          (selection) => nested("admin", selection),
        ),
      },
    ],
  },
  ModelDiscovery: { fields: "failure models", reached: [discovered("providerId", "")] },
  DiscoveredModel: {
    fields: "contextLimit displayName isConfigured model pricing",
    reached: [discovered("providerId", "models")],
  },
  ModelDiscoveryFailure: { fields: "kind message", reached: [discovered("unlistedProviderId", "failure")] },
  ProviderKeyRequired: {
    fields: "provider",
    reached: [
      {
        kind: "change",
        rule: ALL_USERS,
        at: "createChat.userErrors",
        ask: ({ keylessModelId: modelConfigId }, selection) => ({
          query: `mutation ($input: CreateChatInput!) { createChat(input: $input) { userErrors { ... on ProviderKeyRequired { ${selection} } } } }`,
          variables: { input: { parts: [{ text: { text: "Hello" } }], modelConfigId } },
        }),
      },
    ],
  },
  ModelCallRecord: {
    fields: `attempt durationMs firstPartMs generation isTruncated model outcome provider purpose request response startedAt`,
    reached: [
      {
        rule: ADMINS_ASK,
        at: "modelCallRecords.nodes",
        ask: ({ chats }, selection) => ({
          query: `query ($id: ID!) { modelCallRecords(chatId: $id) { nodes { ${selection} } } }`,
          variables: { id: chats.full },
        }),
      },
    ],
  },
  ModelConfig: {
    fields: `capabilities compactionThresholdPercent contextLimit createdAt displayName id isDefault isDeleted isEnabled
      maxOutputTokens model outputLimit pricing provider`,
    guarded: { providerOptions: ADMINS },
    reached: [{ rule: ALL_USERS, ...onNode("ModelConfig", ({ modelId }) => modelId) }],
  },
  ModelPricing: {
    fields: "cacheRead cacheWrite input output",
    reached: [
      {
        rule: ALL_USERS,
        ...onNode(
          "ModelConfig",
          ({ modelId }) => modelId,
          ".pricing",
          (selection) => nested("pricing", selection),
        ),
      },
    ],
  },
};

const toolServers: TypeEntries = {
  McpServer: {
    fields: `account authKind availability createdAt description displayName iconUrl id isEnabled slug tools transport`,
    guarded: { admin: ADMINS },
    reached: onServers(),
  },
  McpServerAdmin: {
    fields: `apiKeyHeader hasApiKey hasCustomHeaders hasOauthSecret isPrivateNetworkAllowed oauthAuthorizeUrl
      oauthClientId oauthScopes oauthTokenUrl toolAllowList toolDenyList updatedAt url`,
    reached: onServers("admin").map((way) => ({ ...way, rule: ADMINS })),
  },
  McpAccount: { fields: "connectedAt expiresAt status", reached: onServers("account") },
  McpTool: { fields: "description inputSchema isAllowed name", reached: onServers("tools") },
  McpServerTestResult: {
    fields: "failure isReachable latencyMs protocolVersion serverName serverVersion toolCount tools",
    reached: [tried("result")],
  },
  McpServerFailure: { fields: "kind message", reached: [tried("result.failure", "personal")] },
  McpAuthRequired: {
    fields: "servers",
    // A server is not revealed to callers who cannot see it, not even that it requires authorization.
    reached: [refusedFor("enabled"), { ...refusedFor("disabled"), when: "disabled", rule: NO_USERS }],
  },
};

const workspaces: TypeEntries = {
  Workspace: {
    fields: `agent allowedMcpServers autostopAt createdAt failure id lastUsedAt mcpRequests name owner status template`,
    reached: [{ rule: OWNER_AND_ADMINS, ...onNode("Workspace", ({ workspaceId }) => workspaceId) }],
  },
  WorkspaceMcpServer: {
    fields: "allowedAt allowedBy commandLine configFile hash headers linkTarget name requestedAt url",
    reached: [inWorkspace("mcpRequests"), { when: "allowed", ...inWorkspace("allowedMcpServers") }],
  },
  WorkspaceTemplate: {
    fields: `allowTtlOverride createdAt defaultTtlMs description displayName id isEnabled name parameters provisioner readme`,
    guarded: { spec: ADMINS },
    reached: [
      { rule: ALL_USERS, ...onNode("WorkspaceTemplate", ({ templateId }) => templateId) },
      {
        when: "disabled",
        rule: ADMINS,
        ...onNode("WorkspaceTemplate", ({ disabledTemplateId }) => disabledTemplateId),
      },
    ],
  },
  TemplateParameter: {
    fields: "defaultValue description displayName isRequired name options",
    partOf: ["WorkspaceTemplate.parameters"],
  },
  WorkspaceAgent: {
    fields: "contextFiles mcpTools skills version workingDirectory",
    reached: [inWorkspace("agent")],
  },
  ContextFile: { fields: "isTruncated path", reached: [inWorkspace("agent.contextFiles")] },
  Skill: { fields: "description name", partOf: ["WorkspaceAgent.skills"] },
};

const deployment: TypeEntries = {
  Deployment: {
    fields: "isDesktopEnabled pushPublicKey version",
    guarded: { settings: ADMINS },
    reached: [
      {
        rule: ALL_USERS,
        at: "deployment",
        ask: (_world, selection) => ({ query: `{ deployment { ${selection} } }`, variables: {} }),
      },
    ],
  },
  DeploymentSettings: {
    fields: "acquireBatchSize isDesktopEnabled systemPrompt updatedAt updatedBy workspaceTtlMs",
    reached: [
      {
        rule: ADMINS,
        at: "deployment.settings",
        ask: (_world, selection) => ({
          query: `{ deployment { settings { ${selection} } } }`,
          variables: {},
        }),
      },
    ],
  },
  Conflict: { fields: "currentStatus", ...ofRefusals },
  WorkspaceUnavailable: { fields: "workspaceStatus", ...ofRefusals },
  StorageLimitExceeded: { fields: "limitBytes usedBytes", ...ofRefusals },
  UsageLimitExceeded: { fields: "limitMicros resetsAt spentMicros", ...ofRefusals },
};

export const ofServers: TypeEntries = { ...models, ...toolServers, ...workspaces, ...deployment };
