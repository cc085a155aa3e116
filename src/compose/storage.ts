/** Composition of storage limits: users' limits, free disk space, and the backfill of older chats' storage. */
import type { Config } from "../config/config.js";
import type { GaugeRegistry } from "../domain/common/meters.js";
import { StorageCount } from "../services/files/storage-count.js";
import { StorageLimits } from "../services/files/storage-limits.js";
import type { Bus } from "../events/bus/bus.js";
import type { Clock } from "../lib/clock.js";
import { FreeSpace, freeBytesOf, type SpaceCheck, UNMONITORED_SPACE } from "../lib/free-space.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import type { Closers } from "./closers.js";

export type StorageDependencies = {
  config: Config;
  database: Database;
  bus: Bus;
  clock: Clock;
  log: Log;
  meters: GaugeRegistry;
};

export async function openStorage(
  dependencies: StorageDependencies,
  closers: Closers,
): Promise<{ storage: StorageLimits; space: SpaceCheck }> {
  const { config, database, bus, clock, log } = dependencies;
  const space = await openSpace(dependencies, closers);
  const defaultBytes = config.userStorageBytes === 0 ? null : BigInt(config.userStorageBytes);
  const storage = new StorageLimits({ database, clock, bus, space, defaultBytes });
  closers.add("the storage limits", async () => storage.close());
  const count = new StorageCount({ database, clock, log });
  count.start();
  closers.add("the count of stored bytes", () => count.close());
  return { storage, space };
}

/** Only the embedded database's disk can be monitored. */
async function openSpace(
  { config, clock, log, meters }: StorageDependencies,
  closers: Closers,
): Promise<SpaceCheck> {
  if (config.databaseUrl !== undefined) return UNMONITORED_SPACE;
  const { dataDir, minFreeBytes: minBytes } = config;
  const space = new FreeSpace({ read: () => freeBytesOf(dataDir), minBytes, clock, log });
  await space.start();
  closers.add("the watch on free disk space", () => space.close());
  meters.observe("free_storage_bytes", () => space.freeBytes ?? 0);
  return space;
}
