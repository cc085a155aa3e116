/** Composition of the worker: the dependencies of its runs, and the auto-archive. */
import { AutoArchive } from "../services/chats/auto-archive.js";
import { Subagents } from "../engine/subagents/subagents.js";
import { builtInTools } from "../engine/tools/registry.js";
import { ChatProvisioning } from "../services/workspaces/workspace-provisioning.js";
import { AdaptiveThrottle } from "../engine/turn/adaptive-throttle.js";
import type {
  ModelDependencies,
  RunnerDependencies,
  StoreDependencies,
  ToolDependencies,
  WorkspaceDependencies,
} from "../engine/worker/runner-dependencies.js";
import { Worker } from "../engine/worker/worker.js";
import { McpTurnServers } from "../engine/mcp/turn-servers.js";
import { WorkspaceTools } from "../engine/mcp/workspace-tools.js";
import { createEventLoopMeter } from "../lib/concurrency/event-loop-meter.js";
import { readHistory } from "../store/chats/chat-source.js";
import { endUnconnectedLeases } from "../store/chats/leases.js";
import { isActiveUser } from "../store/users/user-administration.js";
import type { Agents } from "./agents.js";
import type { Closers } from "./closers.js";
import type { Core } from "./core.js";

/** Resolves when the worker has its lease and claims chats. */
export async function openWorker(core: Core, agents: Agents, closers: Closers): Promise<void> {
  const { config, log, transitionDependencies } = core;
  const worker = new Worker(runnerDependencies(core, agents, closers), {
    leaseMs: config.leaseMs,
    heartbeatMs: config.heartbeatMs,
    batchSize: () => core.deploymentSettings.acquireBatchSize(),
    limits: { chats: config.maxRunningChats, chatsPerUser: config.maxRunningChatsPerUser },
  });
  if (core.isEmbedded) await endDeadLeases(core);
  await worker.start();
  core.meters.observe("running_chats", () => worker.runningChats);
  closers.add("the worker", () => worker.close());
  core.branchDiffs.startWorker();
  if (config.autoArchiveDays === 0) return;
  const autoArchive = new AutoArchive(
    { ...transitionDependencies, log },
    { afterDays: config.autoArchiveDays },
  );
  autoArchive.start();
  closers.add("the auto-archive", () => autoArchive.close());
}

/**
 * Ends the leases of workers that have no connection to the embedded database. Its processes are all on this machine,
 * so those workers are dead: a server restarted after a kill continues its chats at once.
 */
async function endDeadLeases({ database, log }: Core): Promise<void> {
  const ended = await endUnconnectedLeases(database);
  if (ended > 0) log.info({ ended }, "leases of dead workers ended; their chats are claimed at once");
}

function runnerDependencies(core: Core, agents: Agents, closers: Closers): RunnerDependencies {
  const { config, log, clock, transitionDependencies, titles } = core;
  const throttle = new AdaptiveThrottle(createEventLoopMeter(), clock);
  return {
    ...transitionDependencies,
    log,
    random: Math.random,
    // Before the tools: what is opened first is closed last.
    workspaces: workspaceDependencies(core, agents, closers),
    tools: toolDependencies(core, closers),
    model: modelDependencies(core),
    store: storeDependencies(core),
    limits: { maxStepsPerTurn: config.maxStepsPerTurn, usage: core.usageLimits, storage: core.storage },
    events: {
      deltaIntervalMs: () => throttle.intervalMs(),
      onTurnStart: (chat, history) => titles.onTurnStart(chat, history),
      onTurnSettled: (chat, turn) => core.push.notifier.onTurnSettled(chat, turn),
    },
    telemetry: { meter: core.meters, traces: core.traces, callRecords: core.callRecords },
  };
}

function modelDependencies({ models, deploymentSettings, customPrompts }: Core): ModelDependencies {
  return {
    choose: (configId, ownerId) => models.choose(configId, ownerId),
    contextLimitOf: (model) => models.contextLimitOf(model),
    observeContextLimit: (model, tokens) => models.observeContextLimit(model, tokens),
    deploymentPrompt: () => deploymentSettings.systemPrompt(),
    customPrompt: (userId) => customPrompts.customPromptOf(userId),
  };
}

function toolDependencies(core: Core, closers: Closers): ToolDependencies {
  const { config, models, transitionDependencies, mcpServers: catalog, mcpConnections, meters } = core;
  const mcpServers = new McpTurnServers({ ...mcpConnections, catalog, meter: meters });
  // Closed after the worker, whose turns close their connections.
  closers.add("the turns' MCP servers", () => mcpServers.close());
  return {
    builtIn: builtInTools,
    subagents: new Subagents({
      ...transitionDependencies,
      maxDepth: config.subagentDepth,
      chooseModel: (configId, ownerId) => models.choose(configId, ownerId),
      smallModelConfigId: core.smallModelConfigId,
    }),
    mcpServers,
    clientToolTimeoutMs: config.clientToolTimeoutMs,
  };
}

function workspaceDependencies(core: Core, agents: Agents, closers: Closers): WorkspaceDependencies {
  const { config, database, bus, clock, log } = core;
  const { local, contexts, workspaces, workspaceCommands: commands, use, mcpPermissions } = agents;
  // Closed after the agents: with their connections the requests under way end too.
  const workspaceTools = new WorkspaceTools({
    listServers: (workspaceId, agent) => mcpPermissions.listTools(workspaceId, agent),
    ...{ clock, log },
  });
  closers.add("the workspace tools", () => workspaceTools.close());
  closers.add("the local agents", () => local.close());
  local.warm(config.workspaceDir);
  const isReachable = (workspaceId: string) => workspaces.isReachable(workspaceId);
  const provisioning = new ChatProvisioning({ database, bus, commands, isReachable, clock, log });
  closers.add("the provisioning of workspaces", async () => provisioning.close());
  return {
    open: (workspaceId, { chatId, ancestorChatIds, ownerId }) =>
      workspaces.open(workspaceId, chatId, ancestorChatIds, ownerId),
    readContext: (workspaceId, connect) => contexts.read(workspaceId, connect),
    listTools: (workspaceId, connect) => workspaceTools.list(workspaceId, connect),
    whyUnusable: (workspaceId) => workspaces.whyUnusable(workspaceId),
    noteUse: (workspaceIds) => use.note(workspaceIds),
    canProvision: () => provisioning.isAvailable(),
    provisioningFor: (chat, bind) => provisioning.forChat(chat, bind),
  };
}

function storeDependencies({ database, files }: Core): StoreDependencies {
  return {
    readHistory: (chatId) => readHistory(database, chatId),
    isOwnerActive: (userId) => isActiveUser(database, userId),
    saveFiles: (chat, toolFiles) => files.saveToolFiles(chat, toolFiles),
    readFiles: (chatId, fileIds) => files.contents(chatId, fileIds),
  };
}
