/** The doors of one process: commands, the event hub, and the HTTP server before them. */
import type { Viewer } from "../domain/viewer.js";
import { createChatCommands } from "../engine/commands/commands.js";
import { GitWatches } from "../engine/git-watches.js";
import { sanitizePrompt } from "../engine/prompt/sanitize.js";
import { describeAgent } from "../engine/workspace-agents.js";
import { builtInTools } from "../engine/tools/registry.js";
import { ChatHub } from "../events/chat-hub.js";
import { ListHub } from "../events/list-hub.js";
import { ReadMarks } from "../events/read-marks.js";
import type { HealthReport } from "../http/health.js";
import { createHttpServer, type ParleyHttp } from "../http/server.js";
import type { Context } from "../resolvers/context.js";
import { Loaders } from "../resolvers/loaders.js";
import { answerPiecesFromTemplates } from "../resolvers/piece-answers.js";
import { resolvers } from "../resolvers/resolvers.js";
import { SnapshotAdmission } from "../resolvers/snapshot-admission.js";
import { VERSION } from "../lib/version.js";
import { buildParleySchema } from "../schema/build.js";
import { readChat, readRowsFrom, readVersions } from "../store/chat-source.js";
import type { Database } from "../store/database.js";
import { authenticateToken } from "../store/tokens.js";
import { markRead, readListWeights } from "../store/unread.js";
import type { Agents } from "./agents.js";
import type { Closers } from "./closers.js";
import type { Core } from "./core.js";
import { keyVariablesOf } from "./model-environment.js";

/** Resolves when the server listens. */
export async function openDoors(core: Core, agents: Agents, closers: Closers): Promise<ParleyHttp> {
  const { config, log, clock, database, bus } = core;
  const commands = chatCommands(core);
  const { hub, lists } = openHubs(core, closers);
  const admission = new SnapshotAdmission({ clock, log });
  const chatEvents = admission.openings(hub);
  const gitSnapshots = new GitWatches({
    connect: (workspaceId, chatId) => agents.workspaces.open(workspaceId, chatId),
    ...{ clock, log, random: Math.random },
  });
  closers.add("the git watches", () => gitSnapshots.close());
  const { contexts, workspaces } = agents;
  const agentParts = { findAgent: (id: string) => workspaces.present(id), contexts, clock, log };
  const keyVariables = keyVariablesOf(config);
  const doors = await createHttpServer({
    host: config.host,
    port: config.port,
    schema: buildParleySchema(resolvers),
    authenticate: (token) => authenticateToken(database, token),
    createContext: (viewer: Viewer, { requestId }): Context => ({
      viewer,
      requestId,
      database,
      commands,
      keyVariables,
      chatEvents,
      chatListEvents: lists,
      gitSnapshots,
      workspaceAgent: (workspaceId) => describeAgent(agentParts, workspaceId),
      version: VERSION,
      loaders: new Loaders(database, viewer),
    }),
    answerEvents: (execute) => admission.refreshes(answerPiecesFromTemplates(execute)),
    health: async () => {
      await database.dataSource.query("SELECT 1");
      // Without Redis turns go on, and other replicas' subscribers are healed by polling: worth knowing, no outage.
      const checks: HealthReport["checks"] = { database: "ok" };
      if (config.redisUrl) checks["redis"] = bus.isConnected ? "ok" : "degraded";
      return { checks };
    },
    log,
    clock,
    isGraphiqlOn: config.graphiql,
    isProduction: config.isProduction,
    upgradeTakers: [agents.door],
  });
  closers.add("the doors", () => doors.close());
  closers.add("waiting snapshots", async () => admission.close());
  closers.add("questions about repositories", async () => gitSnapshots.stopAnswering());
  return doors;
}

/** Streams of single chats and of lists of them. Who reads a chat through the one is known to the other. */
function openHubs({ database, bus, clock, log }: Core, closers: Closers) {
  const reads = new ReadMarks({ bus, clock, log, markRead: (readings) => markRead(database, readings) });
  closers.add("the read marks", () => reads.close());
  const hub = new ChatHub({ source: hubSource(database), bus, clock, log, reads });
  closers.add("the event hub", () => hub.close());
  const source = { readListWeights: (ownerIds: string[]) => readListWeights(database, ownerIds) };
  const isFollowed = (chatId: string) => reads.isFollowed(chatId);
  const lists = new ListHub({ source, isFollowed, bus, clock, log });
  closers.add("the list hub", () => lists.close());
  return { hub, lists };
}

function chatCommands({ transitionParts, models, titles, customPrompts, seeded, secrets }: Core) {
  return createChatCommands({
    ...transitionParts,
    preferencesOf: (userId) => customPrompts.preferencesOf(userId),
    forgetPreferences: (userId) => customPrompts.forget(userId),
    sanitizePrompt,
    regenerateTitle: (chat) => titles.regenerate(chat),
    resolveModel: async (configId) => {
      const choice = await models.choose(configId);
      return choice.ok
        ? { ok: true, modelConfigId: choice.model.config.id }
        : { ok: false, reason: choice.failure.message };
    },
    defaultWorkspaceId: (viewer) => (viewer.userId === seeded.workspaceOwnerId ? seeded.workspaceId : null),
    isModelSelectable: (configId) => models.isSelectable(configId),
    secrets,
    toolNames: new Set(builtInTools.map((tool) => tool.name)),
  });
}

function hubSource(database: Database) {
  return {
    readChat: (chatId: string) => readChat(database, chatId),
    readRowsFrom: (chatId: string, from: number, limit: number) =>
      readRowsFrom(database, chatId, from, limit),
    readVersions: (chatIds: string[]) => readVersions(database, chatIds),
  };
}
