/** Composition of the API: commands, event hubs, and the HTTP server. */
import type { Config } from "../config/config.js";
import type { Viewer } from "../domain/users/viewer.js";
import { AdminReads } from "../services/users/admin-reads.js";
import { createCommands } from "../commands/commands.js";
import { createDeploymentCommands } from "../commands/common/update-deployment-settings.js";
import { createModelCommands } from "../commands/models/model-commands.js";
import { createUserCommands } from "../commands/users/user-commands.js";
import { createStorageCommands } from "../commands/files/storage-commands.js";
import { createUsageLimitCommands } from "../commands/usage/usage-limit-commands.js";
import type { McpOauthCommands } from "../commands/mcp/oauth-port.js";
import { trackPush } from "../services/git/track-branch.js";
import { GitWatches } from "../services/git/git-watches.js";
import { sanitizePrompt } from "../engine/prompt/sanitize.js";
import { describeAgent } from "../services/workspaces/workspace-agents.js";
import { builtInTools } from "../engine/tools/registry.js";
import { ChatHub } from "../events/chats/chat-hub.js";
import { ListHub } from "../events/lists/list-hub.js";
import { ReadMarks } from "../events/bus/read-marks.js";
import { FileLinks } from "../http/files/file-links.js";
import type { FilesSource } from "../http/files/files.js";
import type { UploadsSource } from "../http/files/uploads.js";
import type { HealthReport } from "../http/ops/health.js";
import { COMPARISONS_PER_NODE, type HttpLimits } from "../http/graphql/limits.js";
import { type ParleyHttp } from "../http/server.js";
import { listenOrExplain } from "./start/listen.js";
import { ResponseBudget } from "../resolvers/common/response-budget.js";
import type { Context } from "../resolvers/common/context.js";
import { Loaders, type NoteReads, type ReadMcpAccountStates } from "../resolvers/common/loaders.js";
import { answerDeltasFromTemplates } from "../resolvers/chats/delta-answers.js";
import { type Reads, ReadShares } from "../resolvers/common/read-shares.js";
import { resolvers } from "../resolvers/resolvers.js";
import { SnapshotAdmission } from "../resolvers/chats/snapshot-admission.js";
import { ByteBudget } from "../lib/streams/byte-budget.js";
import { VERSION } from "../lib/version.js";
import { validateOptions } from "../providers/common/validate-options.js";
import { buildParleySchema } from "../schema/build.js";
import { readChat, readChatAndRowsFrom, readRowsFrom, readVersions } from "../store/chats/chat-source.js";
import type { Database } from "../store/common/database.js";
import { DatabaseProbe } from "../store/common/database-probe.js";
import { findFiles, findStoredBytes } from "../store/files/files.js";
import { findUpload } from "../store/files/uploads.js";
import { markRead, readListChecksums } from "../store/chats/unread.js";
import type { Agents } from "./agents.js";
import type { Closers } from "./closers.js";
import type { Core } from "./core.js";
import { mcpAccounts } from "./mcp-accounts.js";
import { keyVariablesOf } from "./model-environment.js";
import { openIdentities } from "./sign-in.js";

/** The database's health check fails after this; below the timeout of /readyz. */
const HEALTH_LIMIT_MS = 1_500;
/** Share of a user's byte budget for waiting events; the rest is for responses. */
const WAITING_EVENTS_SHARE = 1 / 4;

/** Enough for the servers that one person starts. */
const FURTHER_PORTS = 20;

/** Built once per process: it depends on nothing that a server is composed of. */
let schema: ReturnType<typeof buildParleySchema> | undefined;

/** Resolves when the server listens. */
export async function openApi(core: Core, agents: Agents, closers: Closers): Promise<ParleyHttp> {
  const { config, log, clock, database, bus } = core;
  let { port } = config;
  const publicUrl = () => config.publicUrl ?? `http://localhost:${port}`;
  const identities = openIdentities(core, publicUrl());
  const accounts = mcpAccounts(core, publicUrl);
  const userCommands = createUserCommands({
    ...core.transitionDependencies,
    log,
    announceUsers: () => bus.publishConfigChange("people"),
  });
  const deployment = createDeploymentCommands({
    ...{ database, sanitizePrompt },
    announceSettings: () => bus.publishConfigChange("settings"),
    environment: { acquireBatchSize: config.acquireBatchSize },
    isDesktopEnabled: () => core.deploymentSettings.isDesktopEnabled(),
  });
  const limits = createUsageLimitCommands({
    database,
    announceLimits: () => bus.publishConfigChange("usage-limits"),
    status: (userId) => core.usageLimits.status(userId),
  });
  const storage = createStorageCommands({
    database,
    announceLimits: () => bus.publishConfigChange("storage-limits"),
    defaultBytes: core.storage.defaultBytes,
  });
  const modelCommands = createModelCommands({
    ...{ database, secrets: core.secrets, validateOptions },
    announceModels: () => bus.publishConfigChange("models"),
    discoverModels: core.discoverModels,
  });
  const commands = openCommands(core, {
    publicUrl,
    allowedOrigins: config.allowedOrigins,
    begin: (userId, server, returnTo) => accounts.flows.begin(userId, server, returnTo),
    disconnect: (userId, server) => accounts.flows.disconnect(userId, server),
  });
  const eventBytes = Math.floor(config.maxBytesPerUser * WAITING_EVENTS_SHARE);
  const byteAccounts = new ByteBudget(config.maxBytesPerUser - eventBytes);
  const { hub, lists } = openHubs(core, new ByteBudget(eventBytes), closers);
  const admission = new SnapshotAdmission({ clock, log });
  const chatEvents = admission.openings(hub);
  const gitSnapshots = new GitWatches({
    connect: (workspaceId, chatId) => agents.workspaces.open(workspaceId, chatId),
    ...{ clock, log, random: Math.random },
    pushSeen: (chatId, work) => trackPush(core.transitionDependencies, chatId, work),
  });
  closers.add("the git watches", () => gitSnapshots.close());
  const { contexts, workspaces, mcpPermissions } = agents;
  const findAgent = (id: string) => workspaces.present(id);
  const agentDependencies = { findAgent, contexts, mcpPermissions, clock, log };
  const keyVariables = keyVariablesOf(config);
  const probe = new DatabaseProbe(database, HEALTH_LIMIT_MS);
  closers.add("the database probe", () => probe.close());
  const readShares = new ReadShares(database, clock);
  const adminReads = new AdminReads({ database, clock });
  const files = filesOf(core, adminReads, () => config.publicUrl ?? server.url);
  const server: ParleyHttp = await listenOrExplain(config, {
    host: config.host,
    port: config.port,
    furtherPorts: furtherPortsOf(config),
    schema: (schema ??= buildParleySchema(resolvers)),
    ready: core.seeding.done,
    authenticate: identities.authenticate,
    ...(identities.signIn && { signIn: identities.signIn }),
    createContext: (viewer: Viewer, { requestId, reservation }): Context => ({
      viewer,
      requestId,
      selectedMcpServers: (ids) => core.mcpServers.ofTurn(ids),
      commands,
      userCommands,
      deployment,
      limits,
      storage,
      modelCommands,
      workspaces: agents.workspaceCommands,
      deploymentTtlMs: () => core.deploymentSettings.workspaceTtlMs(),
      keyVariables,
      chatEvents,
      chatListEvents: lists,
      gitSnapshots,
      branchDiffs: core.branchDiffs.diffs,
      mcpTools: core.mcpTools,
      workspaceAgent: (workspaceId) => describeAgent(agentDependencies, workspaceId),
      refreshMcpRequests: (workspaceId) => mcpPermissions.refresh(workspaceId),
      fileUrl: (fileId) => files.links.linkTo(fileId),
      uploadUrl: (fileId, expiresAt) => files.links.uploadTo(fileId, expiresAt),
      pushPublicKey: () => core.push.publicKey(),
      version: VERSION,
      ...operationLoaders(core, {
        ...{ viewer, database: readShares.of(viewer.userId) },
        noteReads: (kind, ids) => adminReads.note({ ...viewer, requestId }, kind, ids),
        budget: new ResponseBudget(config.maxResponseBytes, reservation),
      }),
    }),
    onRightsChange: (listener) =>
      bus.onConfigChange((topic) => {
        if (topic === "people") listener();
      }),
    createEventExecutor: (execute, operation) =>
      admission.refreshes(answerDeltasFromTemplates(execute, operation)),
    health: async () => {
      await probe.ask();
      // Without Redis turns go on, and subscribers on other replicas catch up by polling: degraded, no outage.
      const checks: HealthReport["checks"] = { database: "ok" };
      if (config.redisUrl) checks["redis"] = bus.isConnected ? "ok" : "degraded";
      // Reads still work: no reason to route requests elsewhere.
      if (core.space.isLow) checks["disk"] = "degraded";
      return { checks };
    },
    space: core.space,
    files,
    uploads: uploadsOf(core, files),
    meter: core.meters,
    rateGate: core.rateGate,
    traces: core.traces,
    log,
    clock,
    isGraphiqlOn: config.graphiql,
    isProduction: config.isProduction,
    mcpOauth: accounts.pages,
    upgradeHandlers: [agents.endpoint],
    byteBudget: byteAccounts,
    limits: limitsOf(config),
  });
  port = server.port;
  core.meters.observe("open_sockets", () => server.count().sockets);
  core.meters.observe("running_operations", () => server.count().operations);
  closers.add("the HTTP server", () => server.close());
  closers.add("the snapshot admission", async () => admission.close());
  closers.add("requests to git hosts", async () => core.branchDiffs.stopAsking());
  closers.add("requests for git snapshots", async () => gitSnapshots.stopAnswering());
  return server;
}

/** Ports that are tried after a taken one; none when the address is part of the configuration. */
function furtherPortsOf({ isPortChosen, publicUrl, replicaUrl }: Config): number {
  return isPortChosen || publicUrl !== undefined || replicaUrl !== undefined ? 0 : FURTHER_PORTS;
}

/** The configured limits of the HTTP server. */
function limitsOf(config: Config): Partial<HttpLimits> {
  const {
    maxDocumentNodes: maxNodes,
    maxRunningPerUser,
    maxResponseBytes,
    maxBytesPerUser,
    rateLimits,
  } = config;
  return {
    maxNodes,
    maxComparisons: maxNodes * COMPARISONS_PER_NODE,
    maxRunningPerUser,
    maxResponseBytes,
    maxBytesPerUser,
    maxAnonymousPerAddress: rateLimits ? config.maxAnonymousPerAddress : Infinity,
    userCpuMsPerSecond: rateLimits ? config.userCpuMsPerSecond : 0,
  };
}

/** One operation's loaders; admins' reads of others' data are audited. */
function operationLoaders(
  { mcpAuthorization }: Core,
  {
    viewer,
    database,
    noteReads,
    budget,
  }: { viewer: Viewer; database: Reads; noteReads: NoteReads; budget: ResponseBudget },
) {
  const readMcpAccountStates: ReadMcpAccountStates = (servers, userId) =>
    mcpAuthorization.accountStates(servers, userId);
  const loaders = new Loaders({ database, viewer, readMcpAccountStates, noteReads, budget });
  return { database, noteReads, loaders };
}

/** File downloads, and signed links that are valid on every replica. */
function filesOf(core: Core, adminReads: AdminReads, publicUrl: () => string): FilesSource {
  const { database, secrets, clock } = core;
  return {
    links: new FileLinks({ keys: secrets.derivedKeys("links to files"), clock, publicUrl }),
    async find(fileId, viewer, requestId) {
      if (viewer !== null) {
        const [file] = await findFiles(database, viewer, [fileId]);
        if (!file) return null;
        if (file.ownerId !== viewer.userId) await adminReads.note({ ...viewer, requestId }, "file", [fileId]);
      }
      const stored = await findStoredBytes(database, fileId);
      return stored && (core.files.canRead(stored) ? stored : "out of reach");
    },
    read: (id, first, length) => core.files.slice(id, first, length),
  };
}

/** Uploads of announced files. */
function uploadsOf({ database, files, space }: Core, { links }: FilesSource): UploadsSource {
  return {
    links,
    findSize: async (fileId) => (await findUpload(database, fileId))?.sizeBytes ?? null,
    hasSpaceFor: (bytes) => space.hasSpaceFor(bytes),
    finish: (fileId, bytes) => files.finish(fileId, bytes),
  };
}

/** Event hubs of single chats and of lists. The list hub knows which chats have subscribers. */
function openHubs(core: Core, waitingEvents: ByteBudget, closers: Closers) {
  const { database, bus, clock, log, meters: meter } = core;
  const readMarks = new ReadMarks({ bus, clock, log, markRead: (readings) => markRead(database, readings) });
  closers.add("the read marks", () => readMarks.close());
  const hub = new ChatHub({ source: hubSource(database), bus, clock, log, readMarks, meter, waitingEvents });
  closers.add("the event hub", () => hub.close());
  const source = { readListChecksums: (ownerIds: string[]) => readListChecksums(database, ownerIds) };
  const isFollowed = (chatId: string) => readMarks.isFollowed(chatId);
  const lists = new ListHub({ source, isFollowed, bus, clock, log, meter });
  closers.add("the list hub", () => lists.close());
  return { hub, lists };
}

function openCommands(core: Core, mcpOauth: McpOauthCommands) {
  const { transitionDependencies, models, titles, customPrompts, seeding, secrets, mcpServers, mcpTools } =
    core;
  return createCommands({
    ...transitionDependencies,
    mcpSelection: {
      preselected: () => mcpServers.preselectedIds(),
      enabled: (ids) => mcpServers.ofTurn(ids),
      accountStates: (servers, userId) => core.mcpAuthorization.accountStates(servers, userId),
    },
    preferencesOf: (userId) => customPrompts.preferencesOf(userId),
    forgetPreferences: (userId) => customPrompts.forget(userId),
    sanitizePrompt,
    usageLimits: core.usageLimits,
    storage: core.storage,
    regenerateTitle: (chat) => titles.regenerate(chat),
    resolveModel: (configId, ownerId) => models.resolve(configId, ownerId),
    asksPersonalKeys: () => models.asksPersonalKeys(),
    defaultWorkspaceId: (viewer) => {
      const { workspaceOwnerId = null, workspaceId = null } = seeding.current ?? {};
      return viewer.userId === workspaceOwnerId ? workspaceId : null;
    },
    isModelSelectable: (configId) => models.isSelectable(configId),
    secrets,
    isPushPrivateAllowed: core.config.isPushPrivateAllowed,
    mcpOauth,
    tryMcpServer: (server, userId) => mcpTools.try(server, userId),
    toolNames: new Set(builtInTools.map((tool) => tool.name)),
  });
}

function hubSource(database: Database) {
  return {
    readChat: (chatId: string) => readChat(database, chatId),
    readRowsFrom: (chatId: string, from: number, limit: number) =>
      readRowsFrom(database, chatId, from, limit),
    readChatAndRowsFrom: (chatId: string, from: number, limit: number) =>
      readChatAndRowsFrom(database, chatId, from, limit),
    readVersions: (chatIds: string[]) => readVersions(database, chatIds),
  };
}
