/** Composition of file storage and its sweep. */
import type { Config } from "../config/config.js";
import type { ObjectStore } from "../domain/files/object-store.js";
import { FileSweep } from "../services/files/file-sweep.js";
import { FileStorage } from "../services/files/file-storage.js";
import type { StorageLimits } from "../services/files/storage-limits.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Database } from "../store/common/database.js";
import type { Closers } from "./closers.js";

export type FilesDependencies = {
  config: Config;
  database: Database;
  clock: Clock;
  log: Log;
  storage: StorageLimits;
};

export async function openFiles(
  { config, storage, ...dependencies }: FilesDependencies,
  closers: Closers,
): Promise<FileStorage> {
  const objects = await connectObjects(config);
  closers.add("the object store", async () => objects?.close());
  const sweep = new FileSweep({ ...dependencies, objects });
  sweep.start();
  closers.add("the sweep of files", () => sweep.close());
  return new FileStorage({ ...dependencies, objects, storage });
}

/** The client is loaded only when a bucket is configured. */
async function connectObjects(config: Config): Promise<ObjectStore | null> {
  const { s3Bucket: bucket, s3Endpoint: endpoint, s3Region: region } = config;
  if (bucket === undefined) return null;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  const { connectS3 } = await import("../adapters/s3.js");
  return connectS3({
    ...{ bucket, region },
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { keys: { accessKeyId, secretAccessKey } }),
  });
}
