/** What runs chats in one process: the worker, what it knows of workspaces, and the clock that archives. */
import { AutoArchive } from "../services/chats/auto-archive.js";
import { Subagents } from "../engine/subagents/subagents.js";
import { builtInTools } from "../engine/tools/registry.js";
import { ChatProvisioning } from "../services/workspaces/workspace-provisioning.js";
import { AdaptiveThrottle } from "../engine/turn/adaptive-throttle.js";
import type { RunnerDependencies } from "../engine/worker/runner-dependencies.js";
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

/** Resolves when the worker holds its lease and takes chats. */
export async function openTurns(core: Core, agents: Agents, closers: Closers): Promise<void> {
  const { config, log, transitionDependencies } = core;
  const worker = new Worker(runnerDependencies(core, agents, closers), {
    leaseMs: config.leaseMs,
    heartbeatMs: config.heartbeatMs,
    batchSize: () => core.deploymentSettings.acquireBatchSize(),
    limits: { chats: config.maxRunningChats, chatsPerUser: config.maxRunningChatsPerUser },
  });
  if (core.isEmbedded) await endLeasesOfTheDead(core);
  await worker.start();
  core.meters.watch("running_chats", () => worker.runningChats);
  closers.add("the worker", () => worker.close());
  core.branchLooks.startWorker();
  if (config.autoArchiveDays === 0) return;
  const autoArchive = new AutoArchive(
    { ...transitionDependencies, log },
    { afterDays: config.autoArchiveDays },
  );
  autoArchive.start();
  closers.add("the auto-archive", () => autoArchive.close());
}

/**
 * Whoever is not connected to the embedded database is dead: its processes are on this machine. So a server that starts
 * after one that was killed goes on with its chats at once, and does not wait for the end of its lease.
 */
async function endLeasesOfTheDead({ database, log }: Core): Promise<void> {
  const ended = await endUnconnectedLeases(database);
  if (ended > 0)
    log.info({ ended }, "Workers of this data folder have died; their chats are taken over at once");
}

function runnerDependencies(core: Core, agents: Agents, closers: Closers): RunnerDependencies {
  const { local, contexts, workspaces } = agents;
  const { config, log, clock, database, models, transitionDependencies, titles, customPrompts } = core;
  // Closed after the agents: their end is the end of what is still being read.
  const workspaceTools = new WorkspaceTools({ clock, log });
  closers.add("the workspace tools", () => workspaceTools.close());
  closers.add("the local agents", () => local.close());
  local.warm(config.workspaceDir);
  const pace = new AdaptiveThrottle(createEventLoopMeter(), clock);
  return {
    ...transitionDependencies,
    log,
    meter: core.meters,
    traces: core.traces,
    callRecords: core.callRecords,
    random: Math.random,
    deltaIntervalMs: () => pace.intervalMs(),
    tools: builtInTools,
    chooseModel: (configId, ownerId) => models.choose(configId, ownerId),
    maxStepsPerTurn: config.maxStepsPerTurn,
    clientToolTimeoutMs: config.clientToolTimeoutMs,
    contextLimitOf: (model) => models.contextLimitOf(model),
    observeContextLimit: (model, tokens) => models.observeContextLimit(model, tokens),
    keepFiles: (chat, files) => core.files.keep(chat, files),
    readFiles: (chatId, fileIds) => core.files.contents(chatId, fileIds),
    deploymentPrompt: () => core.deploymentSettings.systemPrompt(),
    customPrompt: (userId) => customPrompts.customPromptOf(userId),
    usageLimits: core.usageLimits,
    storage: core.storage,
    isOwnerActive: (userId) => isActiveUser(database, userId),
    onTurnSettled: (chat, rest) => core.push.notifier.onTurnSettled(chat, rest),
    onTurnStart: (chat, history) => titles.onTurnStart(chat, history),
    readWorkspaceContext: (workspaceId, connect) => contexts.read(workspaceId, connect),
    listWorkspaceTools: (workspaceId, connect) => workspaceTools.list(workspaceId, connect),
    openWorkspace: (workspaceId, { chatId, ancestorChatIds, ownerId }) =>
      workspaces.open(workspaceId, chatId, ancestorChatIds, ownerId),
    subagents: new Subagents({
      ...transitionDependencies,
      maxDepth: config.subagentDepth,
      chooseModel: (configId, ownerId) => models.choose(configId, ownerId),
      smallModelConfigId: core.smallModelConfigId,
    }),
    workspaces: workspacesOfTurns(core, agents, closers),
    toolServers: openToolServers(core, closers),
    readHistory: (chatId) => readHistory(database, chatId),
  };
}

function workspacesOfTurns(core: Core, agents: Agents, closers: Closers): RunnerDependencies["workspaces"] {
  const { database, bus, clock, log } = core;
  const { workspaces, workspaceCommands: commands, use } = agents;
  const isReachable = (workspaceId: string) => workspaces.isReachable(workspaceId);
  const desks = new ChatProvisioning({ database, bus, commands, isReachable, clock, log });
  closers.add("the desks for workspaces", async () => desks.close());
  return {
    whyUnusable: (workspaceId) => workspaces.whyUnusable(workspaceId),
    noteUse: (workspaceIds) => use.note(workspaceIds),
    canProvision: () => desks.isOpen(),
    provisioningFor: (chat, bind) => desks.of(chat, bind),
  };
}

function openToolServers(core: Core, closers: Closers): McpTurnServers {
  const { mcpServers: catalog, toolServerLines, meters: meter } = core;
  const toolServers = new McpTurnServers({ ...toolServerLines, catalog, meter });
  // Closed after the worker, whose turns leave them.
  closers.add("the turns' tool servers", () => toolServers.close());
  return toolServers;
}
