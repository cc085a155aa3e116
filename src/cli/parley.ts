/**
 * The server, composed: config → store → events → engine → doors, and closed in reverse. The only place that
 * knows every room.
 */
import { fileURLToPath } from "node:url";
import { processEnvironment, type Config } from "../config.js";
import { startDemoModel } from "../demo-model/server.js";
import type { Viewer } from "../domain/viewer.js";
import { createChatCommands } from "../engine/commands/commands.js";
import { Models } from "../engine/models.js";
import { RecentChats } from "../engine/state/recent-chats.js";
import { builtInTools } from "../engine/tools/registry.js";
import { Worker } from "../engine/worker/worker.js";
import { Workspaces } from "../engine/workspaces.js";
import { ChatHub } from "../events/chat-hub.js";
import { MemoryBus } from "../events/memory-bus.js";
import { createHttpServer, type ParleyHttp } from "../http/server.js";
import { systemClock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { createProvider } from "../providers/registry.js";
import type { Context } from "../resolvers/context.js";
import { Loaders } from "../resolvers/loaders.js";
import { answerPiecesFromTemplates } from "../resolvers/piece-answers.js";
import { resolvers } from "../resolvers/resolvers.js";
import { buildParleySchema } from "../schema/build.js";
import { readChat, readHistory, readRowsFrom, readVersions } from "../store/chat-source.js";
import type { Database } from "../store/database.js";
import { ensureDefaultProviders } from "../store/default-models.js";
import { getSystemPrompt } from "../store/settings.js";
import { authenticateToken } from "../store/tokens.js";
import { ensureFirstAdmin, findOldestAdmin } from "../store/users.js";
import { ensureLocalWorkspace } from "../store/workspaces.js";
import { LocalAgents } from "../workspaces/local-agents.js";
import { openDatabase } from "./open-database.js";
import { VERSION } from "./version.js";

export type Parley = {
  /** Null in a process that is a worker only. */
  url: string | null;
  /** The first admin's token, when it was made or given at this start. */
  adminToken: string | null;
  /** The default workspace; null until there is an admin to own it. */
  workspaceId: string | null;
  modelName: string;
  isDemoModel: boolean;
  database: Database;
  /** Hands running chats back, ends subscriptions, drains requests, then lets go of everything else. */
  close(): Promise<void>;
};

/** Closes what was opened, last opened first; one that fails does not keep the others open. */
class Closers {
  readonly #closers: { name: string; close: () => Promise<void> }[] = [];

  constructor(private readonly log: Log) {}

  add(name: string, close: () => Promise<void>): void {
    this.#closers.unshift({ name, close });
  }

  async closeAll(): Promise<void> {
    for (const { name, close } of this.#closers.splice(0)) {
      await close().catch((error: unknown) => this.log.error({ err: error }, `Closing ${name} failed`));
    }
  }
}

/** Rejects when something cannot be opened; then everything opened before is closed again. */
export async function startParley(config: Config, log: Log): Promise<Parley> {
  const closers = new Closers(log);
  try {
    return await compose(config, log, closers);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function compose(config: Config, log: Log, closers: Closers): Promise<Parley> {
  const clock = systemClock;
  for (const warning of config.warnings) log.warn(warning);
  if (config.redisUrl) {
    log.warn(
      "REDIS_URL is set, but this version has no Redis bus: replicas hear of each other by polling only.",
    );
  }
  const { database, close } = await openDatabase(config, log);
  closers.add("the database", close);
  const seeded = await seed(config, database);

  const bus = new MemoryBus(log);
  closers.add("the bus", () => bus.close());
  const recent = new RecentChats();
  const transitionParts = { database, bus, clock, recent };
  const models = await openModels(config, database, closers);
  const chooseModel = (configId: string | null) => models.choose(configId);
  const commands = createChatCommands({
    ...transitionParts,
    resolveModel: async (configId) => {
      const choice = await models.choose(configId);
      return choice.ok
        ? { ok: true, modelConfigId: choice.model.config.id }
        : { ok: false, reason: choice.failure.message };
    },
    defaultWorkspaceId: (viewer) => (viewer.userId === seeded.workspaceOwnerId ? seeded.workspaceId : null),
    isModelSelectable: (configId) => models.isSelectable(configId),
    toolNames: new Set(builtInTools.map((tool) => tool.name)),
  });

  const hub = new ChatHub({ source: hubSource(database), bus, clock, log });
  closers.add("the event hub", () => hub.close());
  let http: ParleyHttp | null = null;
  if (config.role !== "worker") {
    http = await openDoors(config, log, { database, commands, hub });
    const { close: closeDoors } = http;
    closers.add("the doors", closeDoors);
  }
  if (config.role !== "api") {
    const agents = new LocalAgents({
      command: agentCommand(),
      environment: processEnvironment(),
      log,
      clock,
    });
    closers.add("the local agents", () => agents.close());
    agents.warm(config.workspaceDir);
    const workspaces = new Workspaces({ database, agents, clock, log });
    const worker = new Worker(
      {
        ...transitionParts,
        log,
        random: Math.random,
        tools: builtInTools,
        chooseModel,
        deploymentPrompt: remembered(clock.now, () => getSystemPrompt(database)),
        openWorkspace: (workspaceId, chatId) => workspaces.open(workspaceId, chatId),
        readHistory: (chatId) => readHistory(database, chatId),
      },
      { leaseMs: config.leaseMs, heartbeatMs: config.heartbeatMs, batchSize: config.acquireBatchSize },
    );
    await worker.start();
    closers.add("the worker", () => worker.close());
  }
  const { adminToken, workspaceId, modelName, isDemoModel } = seeded;
  return {
    url: http?.url ?? null,
    adminToken,
    workspaceId,
    modelName,
    isDemoModel,
    database,
    close: () => closers.closeAll(),
  };
}

/** What a deployment cannot be without: an admin, a model, the default workspace. Made once. */
async function seed(config: Config, database: Database) {
  const admin = await ensureFirstAdmin(database, config.adminToken ? { token: config.adminToken } : {});
  const { provider, modelConfig } = await ensureDefaultProviders(database, {
    ...(config.anthropicApiKey ? { anthropic: { baseUrl: config.anthropicBaseUrl } } : {}),
    ...(config.openaiApiKey ? { openai: { baseUrl: config.openaiBaseUrl, api: config.openaiApi } } : {}),
    ...(config.model ? { model: config.model } : {}),
  });
  const owner = admin?.user ?? (await findOldestAdmin(database));
  const place = { directory: config.workspaceDir, name: "local" };
  const workspace = owner && (await ensureLocalWorkspace(database, { ownerId: owner.id, ...place }));
  return {
    adminToken: admin?.token ?? null,
    workspaceId: workspace?.id ?? null,
    workspaceOwnerId: workspace?.ownerId ?? null,
    modelName: modelConfig.displayName,
    isDemoModel: provider.isDemo,
  };
}

async function openModels(config: Config, database: Database, closers: Closers): Promise<Models> {
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0 });
  closers.add("the demo model", () => demo.close());
  return new Models({
    database,
    clock: systemClock,
    keys: { ANTHROPIC_API_KEY: config.anthropicApiKey, OPENAI_API_KEY: config.openaiApiKey },
    demoUrl: demo.url,
    createAdapter: (settings) => createProvider(settings),
  });
}

function openDoors(
  config: Config,
  log: Log,
  {
    database,
    commands,
    hub,
  }: { database: Database; commands: ReturnType<typeof createChatCommands>; hub: ChatHub },
): Promise<ParleyHttp> {
  const keyVariables = new Set([
    ...(config.anthropicApiKey ? ["ANTHROPIC_API_KEY"] : []),
    ...(config.openaiApiKey ? ["OPENAI_API_KEY"] : []),
  ]);
  return createHttpServer({
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
      chatEvents: hub,
      version: VERSION,
      loaders: new Loaders(database, viewer),
    }),
    answerEvents: answerPiecesFromTemplates,
    health: async () => {
      await database.dataSource.query("SELECT 1");
      return { checks: { database: "ok" } };
    },
    log,
    clock: systemClock,
    isGraphiqlOn: config.graphiql,
    isProduction: config.isProduction,
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

/** The agent program of this very version: compiled, or from its source when the server runs from its source. */
function agentCommand(): string[] {
  const isSource = import.meta.url.endsWith(".ts");
  const program = fileURLToPath(new URL(isSource ? "../agent/main.ts" : "../agent/main.js", import.meta.url));
  const loader = isSource ? ["--import", import.meta.resolve("@oxc-node/core/register")] : [];
  return [process.execPath, ...loader, program];
}

/** How long a changed deployment prompt may take to be heard by this replica. */
const PROMPT_CACHE_MS = 10_000;

function remembered<T>(now: () => number, read: () => Promise<T>): () => Promise<T> {
  let kept: { at: number; value: Promise<T> } | null = null;
  return () => {
    if (kept && now() - kept.at < PROMPT_CACHE_MS) return kept.value;
    const value = read();
    kept = { at: now(), value };
    value.catch(() => (kept = null));
    return value;
  };
}
