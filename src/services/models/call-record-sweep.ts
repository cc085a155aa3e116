/**
 * Takes records of model calls away that are old enough: once an hour, on every replica, each taking what no other takes.
 * Where nothing is recorded any more it goes on until the last one is gone, and then asks for nothing.
 */
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import type { Queryable } from "../../store/common/database.js";
import { hasModelCallRecords, pruneModelCallRecords } from "../../store/models/model-call-records.js";

const TICK_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Rows of hundreds of kilobytes: a transaction of more would be felt. */
const BATCH = 200;

export type CallRecordSweepDependencies = { database: Queryable; clock: Clock; log: Log };

export class CallRecordSweep {
  readonly #dependencies: CallRecordSweepDependencies;
  readonly #keepMs: number;
  readonly #isRecording: boolean;
  readonly #job: PeriodicJob;

  constructor(
    dependencies: CallRecordSweepDependencies,
    { keepDays, isRecording }: { keepDays: number; isRecording: boolean },
  ) {
    this.#dependencies = dependencies;
    this.#keepMs = keepDays * DAY_MS;
    this.#isRecording = isRecording;
    this.#job = new PeriodicJob({
      clock: dependencies.clock,
      intervalMs: TICK_MS,
      run: () => this.prune(),
      onError: (error) =>
        dependencies.log.error({ err: error }, "Old records of model calls could not be taken away"),
    });
  }

  /** Looks at once and then every hour. */
  start(): void {
    this.#job.start({ immediately: true });
  }

  /** Resolves when nothing is being taken away any more. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One look; how many records were taken away. Rejects when the database does. */
  async prune(): Promise<number> {
    const { database, clock, log } = this.#dependencies;
    if (!this.#isRecording && !(await hasModelCallRecords(database))) {
      this.#job.stop();
      return 0;
    }
    const before = clock.now() - this.#keepMs;
    let pruned = 0;
    for (let count = BATCH; count === BATCH && !this.#job.isClosing; pruned += count)
      count = await pruneModelCallRecords(database, before, BATCH);
    if (pruned > 0) log.info({ pruned }, "Old records of model calls were taken away");
    return pruned;
  }
}
