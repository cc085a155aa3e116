/** What runs chats in one process: the worker, what it knows of workspaces, and the clock that archives. */
import { AutoArchive } from "../engine/auto-archive.js";
import { builtInTools } from "../engine/tools/registry.js";
import { Pace } from "../engine/turn/pace.js";
import type { RunnerParts } from "../engine/worker/runner-parts.js";
import { Worker } from "../engine/worker/worker.js";
import { WorkspaceTools } from "../engine/mcp/workspace-tools.js";
import { createLoopMeter } from "../lib/loop-load.js";
import { readHistory } from "../store/chat-source.js";
import { readFileContents } from "../store/files.js";
import { getSystemPrompt } from "../store/settings.js";
import type { Agents } from "./agents.js";
import type { Closers } from "./closers.js";
import type { Core } from "./core.js";
import { remembered } from "./remembered.js";

/** Resolves when the worker holds its lease and takes chats. */
export async function openTurns(core: Core, agents: Agents, closers: Closers): Promise<void> {
  const { config, log, transitionParts } = core;
  const worker = new Worker(runnerParts(core, agents, closers), {
    leaseMs: config.leaseMs,
    heartbeatMs: config.heartbeatMs,
    batchSize: config.acquireBatchSize,
    limits: { chats: config.maxRunningChats, chatsPerPerson: config.maxRunningChatsPerUser },
  });
  await worker.start();
  closers.add("the worker", () => worker.close());
  if (config.autoArchiveDays === 0) return;
  const autoArchive = new AutoArchive({ ...transitionParts, log }, { afterDays: config.autoArchiveDays });
  autoArchive.start();
  closers.add("the auto-archive", () => autoArchive.close());
}

function runnerParts(core: Core, { local, contexts, workspaces }: Agents, closers: Closers): RunnerParts {
  const { config, log, clock, database, models, transitionParts, titles, customPrompts } = core;
  // Closed after the agents: their end is the end of what is still being read.
  const workspaceTools = new WorkspaceTools({ clock, log });
  closers.add("the workspace tools", () => workspaceTools.close());
  closers.add("the local agents", () => local.close());
  local.warm(config.workspaceDir);
  const pace = new Pace(createLoopMeter(), clock);
  return {
    ...transitionParts,
    log,
    random: Math.random,
    pieceIntervalMs: () => pace.intervalMs(),
    tools: builtInTools,
    chooseModel: (configId) => models.choose(configId),
    maxStepsPerTurn: config.maxStepsPerTurn,
    contextLimitOf: (model) => models.contextLimitOf(model),
    observeContextLimit: (model, tokens) => models.observeContextLimit(model, tokens),
    readFiles: (ownerId, fileIds) => readFileContents(database, ownerId, fileIds),
    deploymentPrompt: remembered(clock.now, () => getSystemPrompt(database)),
    customPrompt: (userId) => customPrompts.customPromptOf(userId),
    onTurnStart: (chat, history) => titles.onTurnStart(chat, history),
    readWorkspaceContext: (workspaceId, connect) => contexts.read(workspaceId, connect),
    listWorkspaceTools: (workspaceId, connect) => workspaceTools.list(workspaceId, connect),
    openWorkspace: (workspaceId, chatId) => workspaces.open(workspaceId, chatId),
    readHistory: (chatId) => readHistory(database, chatId),
  };
}
