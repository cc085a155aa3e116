/**
 * Periodic job that deletes unfinished uploads, files that were never sent, and objects of deleted files. Runs on every
 * replica; each skips rows that another one has locked.
 */
import { LOOSE_FILE_LIFE_MS, UPLOAD_LIFE_MS } from "../../domain/files/file-limits.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import { forgetObjects, lockDueObjects, sweepFiles } from "../../store/files/file-sweep.js";
import type { FileStorageDependencies } from "./file-storage.js";

export type FileSweepDependencies = Omit<FileStorageDependencies, "storage">;

const TICK_MS = 60_000;
const FILES_AT_ONCE = 200;
const OBJECTS_AT_ONCE = 50;
/** Of each kind in one run; the rest follows in the next one. */
const MAX_STEPS = 20;
/** An upload may start at the last moment of its link's validity; its bytes still need to arrive. */
const UPLOAD_GRACE_MS = 10 * 60_000;

export class FileSweep {
  readonly #job: PeriodicJob;

  constructor(private readonly dependencies: FileSweepDependencies) {
    this.#job = new PeriodicJob({
      clock: dependencies.clock,
      intervalMs: TICK_MS,
      run: () => this.sweep(),
      onError: (error) => dependencies.log.error({ err: error }, "file sweep failed"),
    });
  }

  /** Runs at once and then every minute. */
  start(): void {
    this.#job.start({ immediately: true });
  }

  /** Resolves when the current run has ended. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One run; returns the numbers of deleted files and objects. Rejects when the database or the object store fails. */
  async sweep(): Promise<{ files: number; objects: number }> {
    const files = await this.#inSteps(FILES_AT_ONCE, () => this.#sweepFiles());
    const objects = this.dependencies.objects
      ? await this.#inSteps(OBJECTS_AT_ONCE, () => this.#sweepObjects())
      : 0;
    if (files + objects > 0) this.dependencies.log.info({ files, objects }, "deleted unused files");
    return { files, objects };
  }

  async #inSteps(full: number, step: () => Promise<number>): Promise<number> {
    let total = 0;
    for (let count = 0; count < MAX_STEPS && !this.#job.isClosing; count += 1) {
      const done = await step();
      total += done;
      if (done < full) return total;
    }
    return total;
  }

  #sweepFiles(): Promise<number> {
    const now = this.dependencies.clock.now();
    const looseBefore = now - LOOSE_FILE_LIFE_MS;
    const unfinishedBefore = now - UPLOAD_LIFE_MS - UPLOAD_GRACE_MS;
    return sweepFiles(this.dependencies.database, { looseBefore, unfinishedBefore, limit: FILES_AT_ONCE });
  }

  /** Keys of objects that could not be deleted stay recorded for the next run. */
  #sweepObjects(): Promise<number> {
    const { database, objects, clock, log } = this.dependencies;
    return database.transaction(async (transaction) => {
      const keys = await lockDueObjects(transaction, clock.now(), OBJECTS_AT_ONCE);
      const removals = await Promise.allSettled(keys.map(async (key) => objects?.remove(key)));
      const failed = removals.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected")
        log.warn({ err: failed.reason }, "object store did not delete all unused objects");
      const removed = keys.filter((_key, index) => removals[index]?.status === "fulfilled");
      await forgetObjects(transaction, removed);
      return removed.length;
    });
  }
}
