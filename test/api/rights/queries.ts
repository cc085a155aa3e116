// Access to the fields of Query.
import { ADMINS, ADMINS_ASK, ALL_USERS, NO_USERS, OWNER_ALONE, OWNER_AND_ADMINS } from "./callers.js";
import type { RootEntry, RootEntries } from "./entries.js";
import type { World } from "./world.js";

const RANGE = `range: { from: "2026-01-01T00:00:00Z", to: "2999-01-01T00:00:00Z" }`;

const plain = (query: string) => () => ({ query, variables: {} });
const of = (query: string, id: (world: World) => string) => (world: World) => ({
  query,
  variables: { id: id(world) },
});

const CHAT = "query ($id: ID!) { chat(id: $id) { id mcpServers { id } } }";
const NODE = "query ($id: ID!) { node(id: $id) { id } }";
const NODES = "query ($id: ID!) { nodes(ids: [$id]) { id } }";
const AUDIT = "query ($id: ID!) { auditLog(first: 5, filter: { targetId: $id }) { nodes { id } } }";

const mcpServers = (includeDisabled: boolean) =>
  plain(`{ mcpServers(includeDisabled: ${includeDisabled}) { id } }`);
const templates = (includeDisabled: boolean) =>
  plain(`{ workspaceTemplates(includeDisabled: ${includeDisabled}) { id } }`);
/** A disabled server does not exist for others than admins. */
const controlChannels = (query: string): RootEntry[] => [
  { when: "McpServer", rule: ALL_USERS, ask: of(query, ({ enabled }) => enabled.open) },
  { when: "McpServer, disabled", rule: ADMINS, ask: of(query, ({ disabled }) => disabled.open) },
];

export const queries: RootEntries = {
  viewer: { rule: ALL_USERS, ask: plain("{ viewer { permissions } }") },
  node: [
    { when: "Chat", rule: OWNER_AND_ADMINS, ask: of(NODE, ({ chats }) => chats.full) },
    ...controlChannels(NODE),
  ],
  nodes: [
    { when: "Chat", rule: OWNER_AND_ADMINS, ask: of(NODES, ({ chats }) => chats.full) },
    ...controlChannels(NODES),
  ],
  chat: [
    { rule: OWNER_AND_ADMINS, ask: of(CHAT, ({ chats }) => chats.full) },
    {
      when: "mcpServers",
      rule: OWNER_AND_ADMINS,
      ask: of(CHAT, ({ chats }) => chats.calling),
      at: "mcpServers",
      id: ({ enabled }) => enabled.open,
    },
    {
      when: "mcpServers, disabled",
      rule: NO_USERS,
      ask: of(CHAT, ({ chats }) => chats.callingDisabled),
      at: "mcpServers",
      id: ({ disabled }) => disabled.open,
    },
  ],
  chats: [
    {
      when: "the viewer's own",
      rule: OWNER_ALONE,
      ask: plain("{ chats { nodes { id } } }"),
      at: "nodes",
      id: ({ chats }) => chats.full,
    },
    {
      when: "of one user",
      rule: OWNER_AND_ADMINS,
      ask: of(
        "query ($id: ID!) { chats(filter: { ownerId: $id }) { nodes { id } } }",
        ({ ownerId }) => ownerId,
      ),
      at: "nodes",
      id: ({ chats }) => chats.full,
    },
  ],
  workspaces: {
    rule: OWNER_ALONE,
    ask: plain("{ workspaces { nodes { id } } }"),
    at: "nodes",
    id: ({ workspaceId }) => workspaceId,
  },
  workspaceTemplates: [
    { rule: ALL_USERS, ask: templates(false), id: ({ templateId }) => templateId },
    {
      when: "disabled",
      rule: NO_USERS,
      ask: templates(false),
      id: ({ disabledTemplateId }) => disabledTemplateId,
    },
    {
      when: "includeDisabled",
      rule: ADMINS,
      ask: templates(true),
      id: ({ disabledTemplateId }) => disabledTemplateId,
    },
  ],
  modelProviders: {
    rule: ALL_USERS,
    ask: plain("{ modelProviders { id } }"),
    id: ({ providerId }) => providerId,
  },
  discoverModels: {
    rule: ADMINS_ASK,
    ask: of(
      "query ($id: ID!) { discoverModels(providerId: $id) { failure { kind } } }",
      ({ unlistedProviderId }) => unlistedProviderId,
    ),
  },
  modelConfigs: { rule: ALL_USERS, ask: plain("{ modelConfigs { id } }"), id: ({ modelId }) => modelId },
  mcpServers: [
    { rule: ALL_USERS, ask: mcpServers(false), id: ({ enabled }) => enabled.open },
    { when: "disabled", rule: NO_USERS, ask: mcpServers(false), id: ({ disabled }) => disabled.open },
    { when: "includeDisabled", rule: ALL_USERS, ask: mcpServers(true), id: ({ enabled }) => enabled.open },
    {
      when: "includeDisabled, disabled",
      rule: ADMINS,
      ask: mcpServers(true),
      id: ({ disabled }) => disabled.open,
    },
  ],
  deployment: { rule: ALL_USERS, ask: plain("{ deployment { version } }") },
  userCosts: { rule: ADMINS_ASK, ask: plain(`{ userCosts(${RANGE}) { totalMicros } }`) },
  usageLimitPolicy: { rule: ADMINS_ASK, ask: plain("{ usageLimitPolicy { isEnabled } }") },
  modelCallRecords: {
    rule: ADMINS_ASK,
    ask: of(
      "query ($id: ID!) { modelCallRecords(chatId: $id) { nodes { model } } }",
      ({ chats }) => chats.full,
    ),
    at: "nodes",
  },
  users: { rule: ADMINS_ASK, ask: plain("{ users { nodes { id } } }") },
  auditLog: [
    { rule: ADMINS_ASK, ask: of(AUDIT, ({ enabled }) => enabled.open), at: "nodes" },
    {
      when: "McpServer, disabled",
      rule: ADMINS_ASK,
      ask: of(AUDIT, ({ disabled }) => disabled.open),
      at: "nodes",
    },
  ],
};
