// Who may ask for each mutation that is an admin's: admins, who show all that they are or a token with ADMIN.
import { ADMINS_ASK } from "./callers.js";
import { change, type RootEntry, type RootEntries } from "./entries.js";
import type { World } from "./world.js";

type Input = (world: World) => object | Promise<object>;
const administer = (field: string, input: Input) => change(ADMINS_ASK, field, input);

/** The entries of a mutation for an MCP server: for an enabled and for a disabled one. */
const onServers = (field: string, more: object = {}): RootEntry[] => [
  administer(field, ({ enabled }) => ({ serverId: enabled.open, ...more })),
  { when: "disabled", ...administer(field, ({ disabled }) => ({ serverId: disabled.open, ...more })) },
];

const toolServers: RootEntries = {
  createMcpServer: administer("server { id }", ({ spare }) => ({
    ...{ slug: spare.slug(), displayName: "New", url: "https://mcp.example/", transport: "SSE" },
    auth: { none: true },
  })),
  updateMcpServer: onServers("server { id }", { displayName: "Other" }),
  testMcpServer: onServers("result { isReachable }"),
  deleteMcpServer: administer("deletedId", async ({ spare }) => ({ serverId: await spare.toolServer() })),
};

const users: RootEntries = {
  createUser: administer("secret", ({ spare }) => ({ username: spare.slug(), role: "MEMBER" })),
  updateUser: administer("user { id }", async ({ spare }) => ({
    userId: await spare.user(),
    name: "Grace",
  })),
  setUserRole: administer("user { id }", async ({ spare }) => ({
    userId: await spare.user(),
    role: "ADMIN",
  })),
  deactivateUser: administer("user { id }", async ({ spare }) => ({ userId: await spare.user() })),
  reactivateUser: administer("user { id }", async ({ spare }) => ({
    userId: await spare.user({ isActive: false }),
  })),
};

const deployment: RootEntries = {
  updateDeploymentSettings: administer("settings { updatedAt }", () => ({ acquireBatchSize: 10 })),
};

const limits: RootEntries = {
  updateUsageLimitPolicy: administer("policy { isEnabled }", () => ({ defaultLimitMicros: "2000000" })),
  setUserUsageLimit: administer("override { limitMicros }", async ({ spare }) => ({
    userId: await spare.user(),
    limitMicros: "1",
  })),
  setUserStorageLimit: administer("user { id }", async ({ spare }) => ({
    userId: await spare.user(),
    limitBytes: null,
  })),
  clearUserStorageLimit: administer("user { id }", async ({ spare }) => ({ userId: await spare.user() })),
  clearUserUsageLimit: administer("user { id }", async ({ spare }) => ({ userId: await spare.user() })),
};

const models: RootEntries = {
  createModelProvider: administer("provider { id }", ({ spare }) => ({
    ...{ kind: "ANTHROPIC", displayName: spare.slug() },
  })),
  updateModelProvider: administer("provider { id }", async ({ spare }) => ({
    ...{ providerId: await spare.provider(), isEnabled: false },
  })),
  deleteModelProvider: administer("deletedId", async ({ spare }) => ({ providerId: await spare.provider() })),
  createModelConfig: administer("modelConfig { id }", async ({ spare }) => ({
    ...{ providerId: await spare.provider(), model: "claude-next", displayName: "Claude" },
  })),
  updateModelConfig: administer("modelConfig { id }", async ({ spare }) => ({
    ...{ modelConfigId: await spare.model(), isEnabled: false },
  })),
  deleteModelConfig: administer("deletedId", async ({ spare }) => ({ modelConfigId: await spare.model() })),
};

const workspaceTemplates: RootEntries = {
  createWorkspaceTemplate: administer("template { id }", ({ spare }) => ({
    ...{ name: spare.slug(), displayName: "New", provisioner: "LOCAL", spec: {} },
  })),
  updateWorkspaceTemplate: administer("template { id }", async ({ spare }) => ({
    ...{ templateId: await spare.template(), displayName: "Other" },
  })),
  deleteWorkspaceTemplate: administer("deletedId", async ({ spare }) => ({
    templateId: await spare.template(),
  })),
};

export const administration: RootEntries = {
  ...toolServers,
  ...users,
  ...deployment,
  ...limits,
  ...models,
  ...workspaceTemplates,
};
