/** What doors and worker share in one process: the database, the bus, models, people's wishes, titles. */
import type { Config } from "../config.js";
import { startDemoModel } from "../demo-model/server.js";
import { CustomPrompts } from "../engine/custom-prompts.js";
import { Models } from "../engine/models.js";
import { RecentChats } from "../engine/state/recent-chats.js";
import { Titles } from "../engine/titles.js";
import type { Bus } from "../events/bus.js";
import { MemoryBus } from "../events/memory-bus.js";
import { systemClock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { createProvider } from "../providers/registry.js";
import { getSmallModelConfigId } from "../store/small-model.js";
import { Closers } from "./closers.js";
import { modelKeys, silenceLimits } from "./model-environment.js";
import { openDatabase } from "./open-database.js";
import { openSecretBox } from "./secret-box.js";
import { remembered } from "./remembered.js";
import { seed } from "./seed.js";

export type Core = Awaited<ReturnType<typeof openCore>>;

/** Rejects when something cannot be opened; what was opened before is with the closers. */
export async function openCore(config: Config, log: Log, closers: Closers) {
  const clock = systemClock;
  const { database, close } = await openDatabase(config, log);
  closers.add("the database", close);
  const secrets = await openSecretBox(config, log);
  const seeded = await seed(config, database, log);
  const bus = await openBus(config, log);
  closers.add("the bus", () => bus.close());
  const demo = await startDemoModel({ host: "127.0.0.1", port: 0 });
  closers.add("the demo model", () => demo.close());
  const models = new Models({
    database,
    clock,
    log,
    keys: modelKeys(config),
    demoUrl: demo.url,
    createAdapter: (settings) => createProvider(settings, silenceLimits(config)),
  });
  const transitionParts = { database, bus, clock, recent: new RecentChats() };
  const titles = new Titles(
    {
      ...transitionParts,
      log,
      chooseModel: (configId) => models.choose(configId),
      smallModelConfigId: remembered(clock.now, () => getSmallModelConfigId(database)),
    },
    { isAutomatic: config.titles },
  );
  const customPrompts = new CustomPrompts({ database, clock });
  return {
    config,
    log,
    clock,
    database,
    secrets,
    bus,
    models,
    transitionParts,
    titles,
    customPrompts,
    seeded,
  };
}

/** Within one process, or through Redis; its client is loaded only then. */
async function openBus(config: Config, log: Log): Promise<Bus> {
  if (!config.redisUrl) return new MemoryBus(log);
  const { RedisBus } = await import("../events/redis-bus.js");
  return RedisBus.connect({ url: config.redisUrl, log, clock: systemClock });
}
