// Fixture for tests of the engine: a real database, the demo model behind a real SDK and socket, one bus, and any number
// of replicas, each with its own clock, cache and worker. Nothing here sleeps: tests wait for events and advance the
// clocks.
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import type { ScriptStep } from "../../src/demo-model/answer.js";
import type { DemoRequest } from "../../src/demo-model/request.js";
import { startDemoModel, type DemoModel } from "../../src/demo-model/server.js";
import type { MessageRow } from "../../src/domain/chats/chat-events.js";
import type { ChatState } from "../../src/domain/chats/chat-state.js";
import { NO_METERS } from "../../src/domain/common/meters.js";
import { NO_CALL_RECORDS } from "../../src/services/models/call-records.js";
import { NO_TRACES } from "../../src/domain/common/traces.js";
import type { Viewer } from "../../src/domain/users/viewer.js";
import type { Commands } from "../../src/commands/commands.js";
import type { CreateChatInput } from "../../src/commands/chats/create-chat.js";
import { createCommands } from "../../src/commands/commands.js";
import { CustomPrompts } from "../../src/services/chats/custom-prompts.js";
import { ServerCatalog } from "../../src/services/mcp/catalog.js";
import type { TurnServerDependencies } from "../../src/engine/mcp/server-connection.js";
import { McpTurnServers } from "../../src/engine/mcp/turn-servers.js";
import { Models } from "../../src/services/models/models.js";
import { ProviderEndpoints } from "../../src/services/models/provider-endpoints.js";
import { sanitizePrompt } from "../../src/engine/prompt/sanitize.js";
import { ChatCache } from "../../src/engine/transitions/chat-cache.js";
import { Subagents } from "../../src/engine/subagents/subagents.js";
import { StorageLimits, type StorageLimitsOptions } from "../../src/services/files/storage-limits.js";
import { UNMONITORED_SPACE } from "../../src/lib/free-space.js";
import { describeParts } from "./turns/describe-parts.js";
import { Titles } from "../../src/services/chats/titles.js";
import { ToolError, type Tool } from "../../src/engine/tools/tool.js";
import { UsageLimits, type UsageLimitDependencies } from "../../src/services/usage/usage-limits.js";
import type { RunnerDependencies } from "../../src/engine/worker/runner-dependencies.js";
import { Worker, type WorkerSettings } from "../../src/engine/worker/worker.js";
import type { Bus } from "../../src/events/bus/bus.js";
import { MemoryBus } from "../../src/events/bus/memory-bus.js";
import { createLog } from "../../src/lib/log.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import { connectMcp } from "../../src/mcp/client.js";
import { createProvider } from "../../src/providers/registry.js";
import { readChat, readHistory } from "../../src/store/chats/chat-source.js";
import { Database, type Statement } from "../../src/store/common/database.js";
import { ensureDefaultProviders } from "../../src/store/models/default-models.js";
import { FileStorage } from "../../src/services/files/file-storage.js";
import { getSmallModelConfigId } from "../../src/store/models/small-model.js";
import { ensureFirstAdmin } from "../../src/store/users/users.js";
import { ensureLocalWorkspace } from "../../src/store/workspaces/workspaces.js";
import type { AgentConnection } from "../../src/workspaces/agent-client/agent-connection.js";
import { ManualClock } from "../agent/manual-clock.js";
import { isActiveUser } from "../../src/store/users/user-administration.js";
import { createTestDatabase, type TestDatabase } from "../support/database/database.js";
import { testSecretBox } from "../support/users/secrets-keys.js";

export const LEASE_MS = 300_000;
export const HEARTBEAT_MS = 30_000;

const NO_STORAGE_LIMITS = { space: UNMONITORED_SPACE, defaultBytes: null };

export type Replica = {
  clock: ManualClock;
  bus: Bus;
  dependencies: RunnerDependencies;
  commands: Commands;
  worker: Worker;
  /** Not connected to the worker: a title would use up one of the test's answers. */
  titles: Titles;
  mcpServers: McpTurnServers;
  catalog: ServerCatalog;
  usageLimits: UsageLimits;
};

/** No server requires credentials. */
const NO_AUTHORIZATION: TurnServerDependencies["authorization"] = {
  headersFor: () => Promise.resolve({ ok: true, headers: {} }),
  renewedHeaders: () => Promise.resolve({ ok: false, kind: "failed", message: "There is nothing else." }),
};

type ReplicaOptions = {
  /** Another bus than the fixture's, for an isolated replica. */
  bus?: Bus;
  tools?: readonly Tool[];
  openWorkspace?: (chatId: string, ancestorChatIds: readonly string[]) => Promise<AgentConnection>;
  settings?: Partial<WorkerSettings>;
  subagentDepth?: number;
  maxStepsPerTurn?: number;
  usageLimits?: Partial<Pick<UsageLimitDependencies, "whenUnchecked" | "meter">>;
  /** No storage limit when absent. */
  storage?: Partial<Pick<StorageLimitsOptions, "space" | "defaultBytes">>;
  onTurnSettled?: RunnerDependencies["events"]["onTurnSettled"];
  /** Credentials for registered MCP servers, and the meter of their calls. */
  mcpServers?: Partial<Pick<TurnServerDependencies, "authorization" | "meter">>;
};

export class World {
  readonly bus = new MemoryBus(createLog("silent"));
  /** Time inside the model: pauses between the deltas of an answer. */
  readonly modelClock: ManualClock;
  readonly #replicas: Replica[] = [];
  /** The model's answer; when undefined, the built-in plan's. */
  answer: (request: DemoRequest) => ScriptStep | undefined = () => undefined;

  private constructor(
    readonly test: TestDatabase,
    readonly database: Database,
    readonly demo: DemoModel,
    readonly viewer: Viewer,
    readonly workspaceId: string,
    readonly modelConfigId: string,
    modelClock: ManualClock,
  ) {
    this.modelClock = modelClock;
  }

  static async open(directory: string = tmpdir()): Promise<World> {
    const test = await createTestDatabase();
    const database = new Database(test.dataSource);
    const admin = await ensureFirstAdmin(database, {});
    if (!admin) throw new Error("A new database has no admin yet.");
    const { id: ownerId } = admin.user;
    const { modelConfig } = await ensureDefaultProviders(database, {});
    const workspace = await ensureLocalWorkspace(database, { ownerId, directory, name: "here" });
    const modelClock = new ManualClock();
    const script = (request: DemoRequest) => world.answer(request);
    const demo = await startDemoModel({ host: "127.0.0.1", port: 0, script, clock: modelClock });
    const viewer: Viewer = { ...admin.user, userId: ownerId, expiresAt: null };
    const world: World = new World(test, database, demo, viewer, workspace.id, modelConfig.id, modelClock);
    return world;
  }

  async close(): Promise<void> {
    await this.closeReplicas();
    await this.demo.close();
    await this.test.drop();
  }

  /** The model gives these answers in order, whatever the request. */
  answers(...steps: ScriptStep[]): void {
    let next = 0;
    this.answer = () => steps[next++] ?? { text: "No more answers." };
  }

  async closeReplicas(): Promise<void> {
    await Promise.all(
      this.#replicas.splice(0).map(async ({ worker, titles, mcpServers, catalog, usageLimits }) => {
        await worker.close();
        usageLimits.close();
        await Promise.all([titles.close(), mcpServers.close()]);
        catalog.close();
      }),
    );
  }

  /** Its worker is not started yet. */
  replica(options: ReplicaOptions = {}): Replica {
    const { database, demo } = this;
    const clock = new ManualClock();
    const bus = options.bus ?? this.bus;
    const createAdapter = (settings: Parameters<typeof createProvider>[0]) => createProvider(settings);
    const log = createLog("silent");
    const outbound = new OutboundFetch(clock);
    const secrets = testSecretBox;
    const endpoints = new ProviderEndpoints({
      ...{ database, clock, log, secrets, outbound },
      ...{ keys: {}, demoUrl: demo.url },
    });
    const models = new Models({
      database,
      clock,
      log,
      bus,
      endpoints,
      createAdapter,
      maxOutputTokens: 32_000,
    });
    const openWorkspace = options.openWorkspace ?? (() => Promise.reject(new ToolError("No agent here.")));
    const catalog = new ServerCatalog({ database, clock, bus });
    const mcpServers = new McpTurnServers({
      ...{ catalog, clock, log: createLog("silent"), connect: connectMcp, fetchFor: () => fetch },
      authorization: NO_AUTHORIZATION,
      meter: { mcpCall: () => undefined, mcpConnect: () => undefined },
      ...options.mcpServers,
    });
    const usageLimits = new UsageLimits({
      ...{ database, clock, bus, log: createLog("silent"), meter: NO_METERS },
      whenUnchecked: "closed",
      ...options.usageLimits,
    });
    const storage = new StorageLimits({ database, clock, bus, ...NO_STORAGE_LIMITS, ...options.storage });
    const files = new FileStorage({ database, clock, log, objects: null, storage });
    const smallModelConfigId = () => getSmallModelConfigId(database);
    const chatCache = new ChatCache();
    const chooseModel = (configId: string | null, ownerId: string) => models.choose(configId, ownerId);
    const subagents = new Subagents({
      ...{ database, bus, clock, chatCache, smallModelConfigId },
      maxDepth: options.subagentDepth ?? 1,
      chooseModel,
    });
    const dependencies: RunnerDependencies = {
      ...{ database, bus, clock, chatCache, log },
      random: () => 0,
      model: {
        choose: chooseModel,
        contextLimitOf: (model) => models.contextLimitOf(model),
        observeContextLimit: (model, tokens) => models.observeContextLimit(model, tokens),
        deploymentPrompt: () => Promise.resolve(""),
        customPrompt: () => Promise.resolve(""),
      },
      tools: { builtIn: options.tools ?? [], subagents, mcpServers, clientToolTimeoutMs: 300_000 },
      workspaces: {
        open: (_workspaceId, { chatId, ancestorChatIds }) => openWorkspace(chatId, ancestorChatIds),
        readContext: () => Promise.resolve(null),
        listTools: () => Promise.resolve([]),
        whyUnusable: () => Promise.resolve(null),
        noteUse: () => undefined,
        canProvision: () => Promise.resolve(false),
        provisioningFor: () => {
          throw new Error("Nothing can be created here.");
        },
      },
      store: {
        readHistory: (chatId) => readHistory(database, chatId),
        isOwnerActive: (userId) => isActiveUser(database, userId),
        saveFiles: (chat, toolFiles) => files.saveToolFiles(chat, toolFiles),
        readFiles: (chatId, fileIds) => files.contents(chatId, fileIds),
      },
      limits: { maxStepsPerTurn: options.maxStepsPerTurn ?? 1_000, usage: usageLimits, storage },
      events: {
        deltaIntervalMs: () => 15,
        onTurnStart: () => undefined,
        onTurnSettled: options.onTurnSettled ?? (() => undefined),
      },
      telemetry: { meter: NO_METERS, traces: NO_TRACES, callRecords: NO_CALL_RECORDS },
    };
    const titles = new Titles(
      {
        ...{ database, bus, clock, chatCache, log, usageLimits, chooseModel, smallModelConfigId },
        ...{ traces: NO_TRACES, callRecords: NO_CALL_RECORDS },
      },
      { isAutomatic: true },
    );
    const customPrompts = new CustomPrompts({ database, clock });
    const commands = createCommands({
      ...{ database, bus, clock, chatCache, usageLimits, storage },
      preferencesOf: (userId) => customPrompts.preferencesOf(userId),
      forgetPreferences: (userId) => customPrompts.forget(userId),
      sanitizePrompt,
      isPushPrivateAllowed: false,
      regenerateTitle: (chat) => titles.regenerate(chat),
      resolveModel: (configId, ownerId) => models.resolve(configId, ownerId),
      asksPersonalKeys: () => models.asksPersonalKeys(),
      defaultWorkspaceId: () => null,
      secrets: testSecretBox,
      mcpOauth: {
        publicUrl: () => "http://localhost",
        allowedOrigins: [],
        begin: () => Promise.reject(new Error("No MCP server was expected to be authorised.")),
        disconnect: () => Promise.reject(new Error("No MCP server was expected to be disconnected.")),
      },
      tryMcpServer: () => Promise.reject(new Error("No MCP server was expected to be tried.")),
      mcpSelection: {
        preselected: () => catalog.preselectedIds(),
        enabled: (ids) => catalog.ofTurn(ids),
        accountStates: () => Promise.resolve(new Map()),
      },
      isModelSelectable: (configId) => models.isSelectable(configId),
      toolNames: new Set(dependencies.tools.builtIn.map((tool) => tool.name)),
    });
    const settings = {
      leaseMs: LEASE_MS,
      heartbeatMs: HEARTBEAT_MS,
      batchSize: () => Promise.resolve(10),
      ...options.settings,
    };
    const worker = new Worker(dependencies, settings);
    const replica = { clock, bus, dependencies, commands, titles, mcpServers, catalog, usageLimits, worker };
    this.#replicas.push(replica);
    return replica;
  }

  async createChat(
    { commands }: Replica,
    text: string,
    more: Partial<CreateChatInput> = {},
  ): Promise<string> {
    const made = await commands.createChat(this.viewer, { parts: [{ type: "text", text }], ...more });
    if (!made.ok) throw new Error(made.refusal.message);
    return made.chatId;
  }

  async send({ commands }: Replica, chatId: string, text: string, whenBusy: "queue" | "interrupt" = "queue") {
    const parts = [{ type: "text" as const, text }];
    const sent = await commands.sendMessage(this.viewer, { chatId, parts, whenBusy });
    if (!sent.ok) throw new Error(sent.refusal.message);
    return sent;
  }

  async state(chatId: string): Promise<ChatState> {
    const chat = await readChat(this.database, chatId);
    if (!chat) throw new Error(`There is no chat ${chatId}.`);
    return chat.state;
  }

  /** Resolves with the first state of the chat, now or later, that fulfils the predicate. */
  until(chatId: string, isWanted: (state: ChatState) => boolean, bus: Bus = this.bus): Promise<ChatState> {
    return new Promise((resolve, reject) => {
      let detach: (() => void) | undefined;
      const check = (state: ChatState) => {
        if (!isWanted(state)) return;
        detach?.();
        resolve(state);
      };
      const saved = ({ state }: { state: ChatState }) => check(state);
      bus
        .subscribeChat(chatId, { saved, live: () => undefined })
        .then((stop) => (detach = stop))
        .then(() => this.state(chatId))
        .then(check)
        .catch(reject);
    });
  }

  untilStatus(chatId: string, status: ChatState["status"], bus?: Bus): Promise<ChatState> {
    return this.until(chatId, (state) => state.status === status, bus);
  }

  /** Resolves when a streamed delta, now or later, contains the text in its JSON. */
  untilStreamed(chatId: string, text: string, bus: Bus = this.bus): Promise<void> {
    return new Promise((resolve, reject) => {
      let detach: (() => void) | undefined;
      const check = (deltas: unknown) => {
        if (!JSON.stringify(deltas).includes(text)) return;
        detach?.();
        resolve();
      };
      bus
        .subscribeChat(chatId, { saved: () => undefined, live: ({ deltas }) => check(deltas) })
        .then((stop) => (detach = stop))
        .then(() => this.state(chatId))
        .then((state) => bus.readDeltas(chatId, state))
        .then((logged) => check(logged?.deltas ?? []))
        .catch(reject);
    });
  }

  /** The chat's history in one line per message. */
  async historyLines(chatId: string): Promise<string[]> {
    return (await readHistory(this.database, chatId)).map(
      ({ role, parts }) => `${role}: ${describeParts(parts)}`,
    );
  }

  history(chatId: string): Promise<MessageRow[]> {
    return readHistory(this.database, chatId);
  }

  /** A statement of the test's own. */
  async run(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const statement: Statement = { name: `test-${randomUUID()}`, text };
    return this.database.query(statement, values);
  }

  /** Deletes the worker's lease, as if its process had died long ago. */
  async killLease({ worker }: Replica): Promise<void> {
    await this.run("DELETE FROM worker_leases WHERE worker_id = $1", [worker.id]);
  }
}

export function isAtRest(state: ChatState): boolean {
  return state.status === "waiting" || state.status === "error";
}

/** The bus as one replica sees it; closing it leaves the bus open. */
export function connectedTo(bus: Bus): Bus {
  return {
    isConnected: true,
    publishSaved: (change) => bus.publishSaved(change),
    publishList: (ownerId, change) => bus.publishList(ownerId, change),
    publishLive: (batch) => bus.publishLive(batch),
    wakeWorkers: () => bus.wakeWorkers(),
    subscribeChat: (chatId, listener) => bus.subscribeChat(chatId, listener),
    subscribeList: (ownerId, listener) => bus.subscribeList(ownerId, listener),
    readList: (ownerId, after) => bus.readList(ownerId, after),
    publishConfigChange: (topic) => bus.publishConfigChange(topic),
    onWake: (listener) => bus.onWake(listener),
    onConfigChange: (listener) => bus.onConfigChange(listener),
    onReconnect: (listener) => bus.onReconnect(listener),
    readDeltas: (chatId, generation) => bus.readDeltas(chatId, generation),
    close: () => Promise.resolve(),
  };
}

/** The bus of a replica that is presumed dead: it publishes, but receives nothing. */
export function publishOnlyBus(bus: Bus): Bus {
  return {
    ...connectedTo(bus),
    subscribeChat: () => Promise.resolve(() => undefined),
    onWake: () => () => undefined,
    onConfigChange: () => () => undefined,
  };
}
