// All changes by admins and operators are audited: each of their mutations and commands leaves exactly one entry. A
// mutation missing from the lists here, or an action that is never recorded, fails.
import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AUDIT_ACTIONS, type AuditAction } from "../../../src/domain/users/audit.js";
import { encodeId } from "../../../src/domain/common/ids.js";
import { resolvers } from "../../../src/resolvers/resolvers.js";
import { buildParleySchema } from "../../../src/schema/build.js";
import type { ApiClient } from "../../support/clients/api-client.js";
import { SERVER_PROGRAM } from "../../support/build.js";
import { changeUser } from "../../../src/store/users/user-administration.js";
import { setStorageLimitOverride } from "../../../src/store/files/storage.js";
import { setUsageLimitOverride } from "../../../src/store/usage/usage-limits.js";
import { findUserByUsername } from "../../../src/store/users/users.js";
import { insertServer } from "../../support/mcp/mcp-server-rows.js";
import {
  createTestEnvironment,
  databaseUrl,
  type TestParley,
  type TestEnvironment,
} from "../../support/parley.js";
import { insertViewer } from "../../support/database/rows.js";
import { insertSomeModel, insertSomeProvider } from "../../support/database/model-rows.js";
import { insertSealedRows } from "../../support/database/sealed-rows.js";
import { insertSomeTemplate } from "../../support/database/workspace-rows.js";
import { SECRETS_KEYS, testSecretBox } from "../../support/users/secrets-keys.js";

let environment: TestEnvironment;
let server: TestParley;
let member: ApiClient;
beforeAll(async () => {
  environment = await createTestEnvironment();
  server = await environment.start();
  member = await server.addUser("member");
});
afterAll(() => environment.remove());

type AdminMutation = {
  action: AuditAction;
  /** For objects that exist only once. */
  hasNoTarget?: boolean;
  /** Input of a successful call. */
  input(): object | Promise<object>;
  /** Input of a refused call. */
  refused(): object | Promise<object>;
};

const unknownServer = () => ({ serverId: encodeId("mcp", randomUUID()) });
const aServer = async () => ({
  serverId: encodeId("mcp", (await insertServer(server.parley.database)).id),
});
async function newUser({ isActive = true } = {}) {
  const { database } = server.parley;
  const { userId } = await insertViewer(database);
  if (!isActive) await changeUser(database, userId, { isActive });
  return { userId: encodeId("user", userId) };
}
/** Removes all other admins. */
async function theOnlyAdmin() {
  const { database } = server.parley;
  await environment.database.dataSource.query("UPDATE users SET role = 'member' WHERE username <> 'admin'");
  const admin = await findUserByUsername(database, "admin");
  return { userId: encodeId("user", admin?.id ?? "") };
}
async function newLimitedUser() {
  const { userId } = await insertViewer(server.parley.database);
  await setUsageLimitOverride(server.parley.database, userId, 1n);
  await setStorageLimitOverride(server.parley.database, userId, { limitBytes: 1n });
  return { userId: encodeId("user", userId) };
}
/** A different value each time, so that every call changes something. */
let policyLimit = 1;
async function aProvider(): Promise<string> {
  const { database } = server.parley;
  return encodeId("prov", (await insertSomeProvider(database)).id);
}
async function aModel(): Promise<string> {
  const { database } = server.parley;
  return encodeId("model", (await insertSomeModel(database)).id);
}
async function aTemplate(): Promise<string> {
  return encodeId("tpl", (await insertSomeTemplate(server.parley.database)).id);
}
const newServer = (slug: string) => ({
  slug,
  displayName: "Files",
  url: "https://mcp.example/mcp",
  transport: "STREAMABLE_HTTP",
  auth: { none: true },
});

/** Mutations for admins only. */
const ADMIN_MUTATIONS: Record<string, AdminMutation> = {
  createMcpServer: {
    action: "mcp_server_created",
    input: () => newServer("files"),
    refused: () => newServer("no slug at all"),
  },
  updateMcpServer: {
    action: "mcp_server_updated",
    input: async () => ({ ...(await aServer()), displayName: "Other files" }),
    refused: async () => ({ ...(await aServer()), displayName: "" }),
  },
  testMcpServer: { action: "mcp_server_tested", input: aServer, refused: unknownServer },
  deleteMcpServer: { action: "mcp_server_deleted", input: aServer, refused: unknownServer },
  createModelProvider: {
    action: "model_provider_created",
    input: () => ({ kind: "ANTHROPIC", displayName: "Claude" }),
    refused: () => ({ kind: "ANTHROPIC", displayName: " " }),
  },
  updateModelProvider: {
    action: "model_provider_updated",
    input: async () => ({ providerId: await aProvider(), apiKey: { set: "secret" } }),
    refused: async () => ({ providerId: await aProvider(), displayName: "" }),
  },
  deleteModelProvider: {
    action: "model_provider_deleted",
    input: async () => ({ providerId: await aProvider() }),
    refused: () => ({ providerId: encodeId("prov", randomUUID()) }),
  },
  createModelConfig: {
    action: "model_config_created",
    input: async () => ({ providerId: await aProvider(), model: "m", displayName: "M" }),
    refused: async () => ({ providerId: await aProvider(), model: "m", displayName: "M", contextLimit: 0 }),
  },
  updateModelConfig: {
    action: "model_config_updated",
    input: async () => ({ modelConfigId: await aModel(), isEnabled: false }),
    refused: async () => ({ modelConfigId: await aModel(), compactionThresholdPercent: 101 }),
  },
  deleteModelConfig: {
    action: "model_config_deleted",
    input: async () => ({ modelConfigId: await aModel() }),
    refused: () => ({ modelConfigId: encodeId("model", randomUUID()) }),
  },
  createWorkspaceTemplate: {
    action: "workspace_template_created",
    input: () => ({ name: "plain", displayName: "Plain", provisioner: "LOCAL", spec: {} }),
    refused: () => ({ name: "plainer", displayName: "Plain", provisioner: "EXTERNAL", spec: {} }),
  },
  updateWorkspaceTemplate: {
    action: "workspace_template_updated",
    input: async () => ({ templateId: await aTemplate(), isEnabled: false }),
    refused: async () => ({ templateId: await aTemplate(), defaultTtlMs: 1 }),
  },
  deleteWorkspaceTemplate: {
    action: "workspace_template_deleted",
    input: async () => ({ templateId: await aTemplate() }),
    refused: () => ({ templateId: encodeId("tpl", randomUUID()) }),
  },
  createUser: {
    action: "user_created",
    input: () => ({ username: "grace", role: "MEMBER" }),
    refused: () => ({ username: "admin", role: "MEMBER" }),
  },
  updateUser: {
    action: "user_updated",
    input: async () => ({ ...(await newUser()), name: "Grace" }),
    refused: async () => ({ ...(await newUser()), name: " " }),
  },
  setUserRole: {
    action: "user_role_changed",
    input: async () => ({ ...(await newUser()), role: "ADMIN" }),
    refused: async () => ({ ...(await theOnlyAdmin()), role: "MEMBER" }),
  },
  updateDeploymentSettings: {
    action: "deployment_updated",
    hasNoTarget: true,
    input: () => ({ systemPrompt: randomUUID() }),
    refused: () => ({ acquireBatchSize: 0 }),
  },
  deactivateUser: { action: "user_deactivated", input: newUser, refused: theOnlyAdmin },
  updateUsageLimitPolicy: {
    action: "usage_limit_policy_updated",
    hasNoTarget: true,
    input: () => ({ defaultLimitMicros: String(policyLimit++) }),
    refused: () => ({ defaultLimitMicros: "-1" }),
  },
  setUserUsageLimit: {
    action: "user_usage_limit_set",
    input: async () => ({ ...(await newUser()), limitMicros: "5000000" }),
    refused: async () => ({ ...(await newUser()), limitMicros: "-1" }),
  },
  clearUserUsageLimit: {
    action: "user_usage_limit_cleared",
    input: newLimitedUser,
    refused: () => ({ userId: encodeId("user", randomUUID()) }),
  },
  setUserStorageLimit: {
    action: "user_storage_limit_set",
    input: async () => ({ ...(await newUser()), limitBytes: "5000000" }),
    refused: async () => ({ ...(await newUser()), limitBytes: "-1" }),
  },
  clearUserStorageLimit: {
    action: "user_storage_limit_cleared",
    input: newLimitedUser,
    refused: () => ({ userId: encodeId("user", randomUUID()) }),
  },
  reactivateUser: {
    action: "user_reactivated",
    input: () => newUser({ isActive: false }),
    refused: () => ({ userId: encodeId("user", randomUUID()) }),
  },
};

/** Mutations on users' own objects, which are not audited, but for what lets programs run. */
const USER_MUTATIONS = [
  ...["createChat", "updateChat", "archiveChat", "unarchiveChat", "regenerateChatTitle", "markChatRead"],
  ...["sendChatMessage", "editChatMessage", "interruptChat", "retryChat", "compactChat", "clearChatContext"],
  ...["promoteQueuedMessage", "deleteQueuedMessage", "submitToolResults", "refreshChatGit"],
  ...["refreshChatDiff"],
  ...["createFileUpload", "registerPushSubscription", "unregisterPushSubscription"],
  ...["connectGitHost", "disconnectGitHost", "startMcpOauth", "disconnectMcpServer", "setViewerProviderKey"],
  ...["createWorkspace", "startWorkspace", "stopWorkspace", "deleteWorkspace", "attachWorkspace"],
  ...["allowWorkspaceMcpServer", "forbidWorkspaceMcpServer"],
  ...["createApiToken", "revokeApiToken", "updateUserPreferences"],
];

type Line = {
  action: string;
  actor_name: string;
  target_kind: string;
  target_id: string | null;
  target_name: string | null;
  request_id: string | null;
  changes: object;
};

const countLines = async () => (await lines()).length;
function lines(): Promise<Line[]> {
  return environment.database.dataSource.query<Line[]>("SELECT * FROM audit_log ORDER BY id");
}

/** Entries added while `work` runs. */
async function linesOf(work: () => Promise<unknown>): Promise<Line[]> {
  const before = await countLines();
  await work();
  return (await lines()).slice(before);
}

test("every mutation is either for admins, and documented as recorded, or for users", () => {
  const mutations = Object.values(buildParleySchema(resolvers).getMutationType()?.getFields() ?? {});
  const named = [...Object.keys(ADMIN_MUTATIONS), ...USER_MUTATIONS];
  expect(mutations.map(({ name }) => name).sort()).toEqual(named.sort());
  const recorded = mutations.filter(({ description }) =>
    description?.endsWith("Admins only; recorded in the audit log."),
  );
  expect(recorded.map(({ name }) => name).sort()).toEqual(Object.keys(ADMIN_MUTATIONS).sort());
});

test.each(Object.entries(ADMIN_MUTATIONS))("%s leaves exactly one entry", async (name, mutation) => {
  const input = await mutation.input();
  const left = await linesOf(async () => {
    const { userErrors } = await server.api.change(name, input, "__typename");
    expect(userErrors).toEqual([]);
  });
  const target: unknown = mutation.hasNoTarget ? null : expect.any(String);
  expect(left).toEqual([
    expect.objectContaining({
      action: mutation.action,
      actor_name: "admin",
      target_kind: AUDIT_ACTIONS[mutation.action],
      target_id: target,
      target_name: target,
      request_id: expect.any(String) as string,
    }),
  ]);
  expect(Object.keys(left[0]?.changes ?? {})).not.toEqual([]);
});

test.each(Object.entries(ADMIN_MUTATIONS))("%s leaves no entry if it is refused", async (name, mutation) => {
  const input = await mutation.refused();
  const left = await linesOf(async () => {
    const { userErrors } = await server.api.change(name, input, "__typename");
    expect(userErrors).not.toEqual([]);
  });
  expect(left).toEqual([]);
});

test.each(Object.entries(ADMIN_MUTATIONS))(
  "%s is forbidden to members, and leaves no entry then",
  async (name, it) => {
    const input = await it.input();
    const left = await linesOf(async () => {
      await expect(member.change(name, input, "__typename")).rejects.toThrow("FORBIDDEN");
    });
    expect(left).toEqual([]);
  },
);

const freshKey = `fresh:${randomBytes(32).toString("base64")}`;

/** In an order in which they can succeed. */
const OPERATORS_VERBS: [string, AuditAction[], string | null][] = [
  ["token --user ada --create member --expires 30d", ["user_created", "api_token_created"], "ada"],
  ["token --user ada", ["api_token_created"], "ada"],
  ["token --user nobody", [], null],
  ["workspace add --name laptop", ["workspace_created"], "laptop"],
  ["workspace add --name laptop", [], null],
  ["workspace token --name laptop", ["workspace_token_replaced"], "laptop"],
  ["workspace remove --name laptop", ["workspace_removed"], "laptop"],
  ["workspace remove --name laptop", [], null],
  ["secrets rotate", ["secrets_rotated"], null],
  ["secrets rotate", [], null],
];

test("operators' commands leave entries, and none if they do nothing", async () => {
  await insertSealedRows(
    (text, values) => environment.database.dataSource.query(text, values),
    testSecretBox,
  );
  const env = {
    PATH: process.env["PATH"],
    DATABASE_URL: databaseUrl(environment.database.options),
    PARLEY_SECRETS_KEYS: `${freshKey},${SECRETS_KEYS}`,
    PARLEY_LOG_LEVEL: "silent",
  };
  const options = { env, cwd: environment.repository.folder };
  for (const [verb, actions, target] of OPERATORS_VERBS) {
    let printed = "";
    const left = await linesOf(async () => {
      // Some are meant to fail; only their entries are checked.
      const run = promisify(execFile)(process.execPath, [SERVER_PROGRAM, ...verb.split(" ")], options);
      printed = await run.then(
        ({ stdout }) => stdout,
        () => "",
      );
    });
    const entries = left.map(({ action, actor_name, request_id, target_name }) => ({
      ...{ action, actor_name, request_id, target_name },
    }));
    const expected = actions.map((action) => ({
      ...{ action, actor_name: "operator", request_id: null, target_name: target },
    }));
    expect({ verb, entries }).toEqual({ verb, entries: expected });
    if (/^(token|workspace)/.test(verb) && printed !== "") {
      expect(JSON.stringify(left)).not.toContain(printed.trim());
    }
  }
});

/** Reads by admins have their own test. */
const READS = ["chat_read", "chats_listed", "model_calls_read", "file_read"];
/** Users' decisions about a repository's programs, too: test/api/workspaces/workspace-mcp-permissions.test.ts. */
const DECISIONS = ["workspace_mcp_server_allowed", "workspace_mcp_server_forbidden"];

test("the log has no action that nothing records", async () => {
  const recordedActions = new Set((await lines()).map(({ action }) => action));
  expect([...recordedActions, ...READS, ...DECISIONS].sort()).toEqual(Object.keys(AUDIT_ACTIONS).sort());
});
