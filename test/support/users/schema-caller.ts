// Executes operations against the schema without an HTTP server, over a real database. Commands are stubs with fixed
// results; what they do is tested elsewhere.
import { type ExecutionResult, graphql } from "graphql";
import type { Viewer } from "../../../src/domain/users/viewer.js";
import type { Commands } from "../../../src/commands/commands.js";
import type { CommandRefusal } from "../../../src/commands/common/command-result.js";
import type { UsageLimitCommands } from "../../../src/commands/usage/usage-limit-commands.js";
import type { WorkspaceCommands } from "../../../src/commands/workspaces/workspace-commands.js";
import type { ModelCommands } from "../../../src/commands/models/model-commands.js";
import type { UserCommands } from "../../../src/commands/users/user-commands.js";
import type { Context } from "../../../src/resolvers/common/context.js";
import { ResponseBudget } from "../../../src/resolvers/common/response-budget.js";
import { Loaders } from "../../../src/resolvers/common/loaders.js";
import { resolvers } from "../../../src/resolvers/resolvers.js";
import { buildParleySchema } from "../../../src/schema/build.js";
import type { Database } from "../../../src/store/common/database.js";

export const schema = buildParleySchema(resolvers);

/** Commands that are all refused in the same way. */
export function refusing(refusal: CommandRefusal): Commands {
  const answer = () => Promise.resolve({ ok: false as const, refusal });
  return {
    createChat: answer,
    sendMessage: answer,
    editMessage: answer,
    interruptChat: answer,
    promoteQueuedMessage: answer,
    deleteQueuedMessage: answer,
    submitToolResults: answer,
    retryChat: answer,
    compactChat: answer,
    clearChatContext: answer,
    updateChat: answer,
    regenerateChatTitle: answer,
    markChatRead: answer,
    updatePreferences: answer,
    createFileUpload: answer,
    connectGitHost: answer,
    disconnectGitHost: answer,
    registerPushSubscription: answer,
    unregisterPushSubscription: answer,
    createMcpServer: answer,
    updateMcpServer: answer,
    deleteMcpServer: answer,
    testMcpServer: answer,
    startMcpOauth: answer,
    disconnectMcpServer: answer,
    archiveChat: answer,
    unarchiveChat: answer,
  };
}

/** User commands are tested through the API. */
const notExpected = () => Promise.reject(new Error("No command was expected."));
const userCommandsNeverCalled: UserCommands = {
  createUser: notExpected,
  renameUser: notExpected,
  setUserRole: notExpected,
  deactivateUser: notExpected,
  reactivateUser: notExpected,
  createApiToken: notExpected,
  revokeApiToken: notExpected,
};

/** The audit log is tested through the API. */
const notNoted = () => Promise.resolve();
const limitsNeverAsked: UsageLimitCommands = {
  status: notExpected,
  updatePolicy: notExpected,
  setUserLimit: notExpected,
  clearUserLimit: notExpected,
};

const modelsNeverAsked: ModelCommands = {
  createProvider: notExpected,
  updateProvider: notExpected,
  deleteProvider: notExpected,
  createModel: notExpected,
  updateModel: notExpected,
  deleteModel: notExpected,
  setPersonalKey: notExpected,
  discoverModels: notExpected,
};

const workspacesNeverAsked: WorkspaceCommands = {
  createWorkspace: notExpected,
  setDesiredState: notExpected,
  attachWorkspace: notExpected,
  allowMcpServer: notExpected,
  forbidMcpServer: notExpected,
  createTemplate: notExpected,
  updateTemplate: notExpected,
  deleteTemplate: notExpected,
};

export const neverAsked = refusing({ code: "UNAVAILABLE", message: "No command was expected." });

export function contextOf(db: Database, viewer: Viewer, more: Partial<Context> = {}): Context {
  return {
    viewer,
    loaders: new Loaders({
      database: db,
      viewer,
      readMcpAccountStates: () => Promise.resolve(new Map()),
      noteReads: notNoted,
      budget: new ResponseBudget(16_777_216),
    }),
    noteReads: notNoted,
    commands: neverAsked,
    userCommands: userCommandsNeverCalled,
    deployment: {
      isDesktopEnabled: () => Promise.resolve(false),
      readSettings: notExpected,
      updateSettings: notExpected,
    },
    limits: limitsNeverAsked,
    storage: { defaultBytes: null, setUserLimit: notExpected, clearUserLimit: notExpected },
    modelCommands: modelsNeverAsked,
    workspaces: workspacesNeverAsked,
    deploymentTtlMs: () => Promise.resolve(null),
    database: db,
    chatEvents: { subscribe: () => Promise.resolve(null) },
    chatListEvents: { subscribe: () => Promise.reject(new Error("No list was expected to be followed.")) },
    gitSnapshots: {
      subscribe: () => null,
      read: () => Promise.reject(new Error("No repository was expected to be looked at.")),
      refresh: () => Promise.reject(new Error("No repository was expected to be looked at.")),
    },
    branchDiffs: { read: notExpected, refresh: notExpected },
    fileUrl: (fileId) => `http://localhost/files/${fileId}`,
    uploadUrl: (fileId) => `http://localhost/files/${fileId}`,
    selectedMcpServers: () => Promise.resolve([]),
    mcpTools: { list: () => Promise.resolve(null) },
    refreshMcpRequests: () => Promise.resolve(),
    workspaceAgent: () => Promise.resolve(null),
    pushPublicKey: () => Promise.resolve(null),
    version: "1.2.3",
    keyVariables: new Set(["ANTHROPIC_API_KEY"]),
    requestId: "test",
    ...more,
  };
}

export type Ask = (
  viewer: Viewer,
  source: string,
  variableValues?: Record<string, unknown>,
  more?: Partial<Context>,
) => Promise<ExecutionResult>;

/** Executes one operation in its own context. */
export function askingOver(db: Database): Ask {
  return async (viewer, source, variableValues = {}, more = {}) => {
    const contextValue = contextOf(db, viewer, more);
    const result = await graphql({ schema, source, variableValues, contextValue });
    // Null-prototype objects compare unequal to literals.
    return JSON.parse(JSON.stringify(result));
  };
}

/** Code and message of each error of the response. */
export function problems(result: ExecutionResult): [unknown, string][] {
  return (result.errors ?? []).map((error) => [error.extensions?.["code"], error.message]);
}
