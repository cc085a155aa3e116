/** Composition of what API and worker share: the database, the bus, models, settings, services. */
import type { Config } from "../config/config.js";
import { startDemoModel } from "../demo-model/server.js";
import { ServerCatalog } from "../services/mcp/catalog.js";
import type { RedisMeter } from "../domain/common/meters.js";
import { ServerTools } from "../services/mcp/server-tools.js";
import { CustomPrompts } from "../services/chats/custom-prompts.js";
import { DeploymentSettings } from "../services/common/deployment-settings.js";
import { discoverModels } from "../services/models/model-discovery.js";
import { Models } from "../services/models/models.js";
import { ProviderEndpoints } from "../services/models/provider-endpoints.js";
import { ChatCache } from "../engine/transitions/chat-cache.js";
import { Titles } from "../services/chats/titles.js";
import { UsageLimits } from "../services/usage/usage-limits.js";
import type { Bus } from "../events/bus/bus.js";
import { MemoryBus } from "../events/bus/memory-bus.js";
import { systemClock, type Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { OutboundFetch } from "../lib/outbound/outbound-fetch.js";
import { createProvider } from "../providers/registry.js";
import type { ProviderSettings } from "../providers/types.js";
import type { ProviderRecord } from "../store/models/models.js";
import { countKeys } from "../store/common/sealed-values.js";
import { getSmallModelConfigId } from "../store/models/small-model.js";
import { Closers } from "./closers.js";
import { openFiles } from "./files.js";
import { openMeters } from "./metrics.js";
import { modelKeys, silenceLimits } from "./model-environment.js";
import { identityTokens } from "./identity-provider.js";
import { openMcpAuthorization } from "./mcp-accounts.js";
import { openDatabase } from "./open-database.js";
import { demandKeys, openSecretBox } from "./secret-box.js";
import { memoizeWithTtl } from "../lib/concurrency/memoize.js";
import { openCallRecords } from "./call-records.js";
import { openTracing } from "./traces.js";
import { NO_TRACES, allStatementMeters } from "../domain/common/traces.js";
import { openBranchDiffs } from "./git-hosts.js";
import { openPush } from "./push.js";
import { openRateGate } from "./rate-limits.js";
import { mcpConnections } from "./mcp-servers.js";
import { openStorage } from "./storage.js";
import { seed } from "./start/seed.js";
import { Seeding } from "./start/seeding.js";

export type Core = Awaited<ReturnType<typeof openCore>>;

/** Rejects when opening fails; the closers have what was opened before. */
export async function openCore(config: Config, log: Log, closers: Closers, clock: Clock = systemClock) {
  demandKeys(config);
  const meters = await openMeters(config, log, closers);
  const traces = await openTracing(config, log, closers);
  const statements = traces === NO_TRACES ? meters : allStatementMeters([meters, traces]);
  const { database, isEmbedded, close } = await openDatabase(config, log, { meter: statements, clock });
  closers.add("the database", close);
  const secrets = await openSecretBox(config, { log, countKeys: () => countKeys(database) });
  const seeding = new Seeding(() => seed(config, database, log));
  const bus = await openBus(config, log, meters);
  closers.add("the bus", () => bus.close());
  meters.observe("redis_connected", () => (config.redisUrl !== undefined && bus.isConnected ? 1 : 0));
  const { storage, space } = await openStorage({ config, database, bus, clock, log, meters }, closers);
  const files = await openFiles({ config, database, clock, log, storage }, closers);
  const rateGate = await openRateGate({ config, clock, log, meter: meters }, closers);
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0 });
  closers.add("the demo model", () => demo.close());
  const outbound = new OutboundFetch(clock);
  closers.add("outbound requests", () => outbound.close());
  const providerEndpoints = new ProviderEndpoints({
    ...{ database, clock, log, secrets, outbound },
    keys: modelKeys(config),
    demoUrl: demo.url,
  });
  const createAdapter = (settings: ProviderSettings) => createProvider(settings, silenceLimits(config));
  const { maxOutputTokens } = config;
  const models = new Models({
    ...{ database, clock, log, bus, endpoints: providerEndpoints },
    ...{ maxOutputTokens, createAdapter },
  });
  closers.add("the models", async () => models.close());
  const onChatPending = (chatId: string) => traces.onChatPending(chatId);
  const transitionDependencies = { database, bus, clock, chatCache: new ChatCache(), onChatPending };
  const usageLimits = new UsageLimits({
    ...{ database, clock, log, bus, meter: meters },
    whenUnchecked: config.usageLimitFailure,
  });
  closers.add("the usage limits", async () => usageLimits.close());
  const callRecords = openCallRecords(config, { database, clock, log, meter: meters }, closers);
  const smallModelConfigId = memoizeWithTtl(clock.now, () => getSmallModelConfigId(database));
  const titles = new Titles(
    {
      ...transitionDependencies,
      log,
      traces,
      callRecords,
      usageLimits,
      chooseModel: (configId, ownerId) => models.choose(configId, ownerId),
      smallModelConfigId,
    },
    { isAutomatic: config.titles },
  );
  const { acquireBatchSize } = config;
  const deploymentSettings = new DeploymentSettings({
    ...{ database, clock, bus },
    environment: { acquireBatchSize },
  });
  closers.add("the deployment's settings", async () => deploymentSettings.close());
  const customPrompts = new CustomPrompts({ database, clock });
  const mcpServers = new ServerCatalog({ database, clock, bus });
  closers.add("the catalog of MCP servers", async () => mcpServers.close());
  const push = openPush({ config, database, secrets, bus, outbound, clock, log }, closers);
  const branchDiffs = openBranchDiffs({ ...transitionDependencies, config, secrets, outbound, log }, closers);
  const identityTokenOf = identityTokens({ config, database, secrets, clock, log });
  const accountDependencies = { database, secrets, outbound, clock, log, identityTokenOf };
  const mcpAuthorization = openMcpAuthorization(accountDependencies, closers);
  const lines = mcpConnections({ authorization: mcpAuthorization, outbound, clock, log });
  const mcpTools = new ServerTools({ ...lines, bus });
  closers.add("the lists of MCP servers' tools", () => mcpTools.close());
  return {
    config,
    log,
    clock,
    database,
    isEmbedded,
    files,
    storage,
    space,
    secrets,
    bus,
    meters,
    rateGate,
    traces,
    callRecords,
    models,
    discoverModels: (provider: ProviderRecord, userId: string) =>
      discoverModels({ database, clock, endpoints: providerEndpoints, createAdapter }, provider, userId),
    transitionDependencies,
    titles,
    smallModelConfigId,
    usageLimits,
    customPrompts,
    deploymentSettings,
    mcpServers,
    outbound,
    push,
    branchDiffs,
    mcpAuthorization,
    mcpTools,
    mcpConnections: lines,
    seeding,
  };
}

/** In memory, or Redis if configured; its client is loaded only then. */
async function openBus(config: Config, log: Log, meter: RedisMeter): Promise<Bus> {
  if (!config.redisUrl) return new MemoryBus(log);
  const { RedisBus } = await import("../events/bus/redis-bus.js");
  return RedisBus.connect({ url: config.redisUrl, log, clock: systemClock, meter });
}
