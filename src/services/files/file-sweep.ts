/**
 * Takes away what of files nobody waits for: uploads that were never finished, files that were never sent, objects of
 * files that have gone. Every server does it; they pass over what another one has in hand.
 */
import { LOOSE_FILE_LIFE_MS, UPLOAD_LIFE_MS } from "../../domain/files/file-limits.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import { forgetObjects, lockDueObjects, sweepFiles } from "../../store/files/file-sweep.js";
import type { FileStorageDependencies } from "./file-storage.js";

export type FileSweepDependencies = Omit<FileStorageDependencies, "storage">;

const TICK_MS = 60_000;
const FILES_AT_ONCE = 200;
const OBJECTS_AT_ONCE = 50;
/** Of each kind in one round; more are left to the next one. */
const MAX_STEPS = 20;
/** A link that works until the last moment may be used at it: its bytes still need to come. */
const UPLOAD_GRACE_MS = 10 * 60_000;

export class FileSweep {
  readonly #job: PeriodicJob;

  constructor(private readonly dependencies: FileSweepDependencies) {
    this.#job = new PeriodicJob({
      clock: dependencies.clock,
      intervalMs: TICK_MS,
      run: () => this.sweep(),
      onError: (error) => dependencies.log.error({ err: error }, "Sweeping files failed"),
    });
  }

  /** Looks at once and then every minute. */
  start(): void {
    this.#job.start({ immediately: true });
  }

  /** Resolves when nothing is being taken away any more. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One look; how many files and objects went. Rejects when the database or the object store does. */
  async sweep(): Promise<{ files: number; objects: number }> {
    const files = await this.#inSteps(FILES_AT_ONCE, () => this.#sweepFiles());
    const objects = this.dependencies.objects
      ? await this.#inSteps(OBJECTS_AT_ONCE, () => this.#sweepObjects())
      : 0;
    if (files + objects > 0)
      this.dependencies.log.info({ files, objects }, "Files that nobody waits for were taken away");
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

  /** What the store does not take away now stays written down. */
  #sweepObjects(): Promise<number> {
    const { database, objects, clock, log } = this.dependencies;
    return database.transaction(async (transaction) => {
      const keys = await lockDueObjects(transaction, clock.now(), OBJECTS_AT_ONCE);
      const removals = await Promise.allSettled(keys.map(async (key) => objects?.remove(key)));
      const failed = removals.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected")
        log.warn({ err: failed.reason }, "The object store did not take away all that nobody needs");
      const removed = keys.filter((_key, index) => removals[index]?.status === "fulfilled");
      await forgetObjects(transaction, removed);
      return removed.length;
    });
  }
}
