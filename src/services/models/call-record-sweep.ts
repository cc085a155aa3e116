/**
 * Periodic job that deletes expired records of model calls: once an hour on every replica, skipping rows that another
 * one has locked. When recording is off it runs until the last record is deleted, then stops.
 */
import type { Clock } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import type { Queryable } from "../../store/common/database.js";
import { hasModelCallRecords, pruneModelCallRecords } from "../../store/models/model-call-records.js";

const TICK_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Rows have hundreds of kilobytes, so that larger transactions would disturb others. */
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
      onError: (error) => dependencies.log.error({ err: error }, "deleting old model call records failed"),
    });
  }

  /** Runs at once and then every hour. */
  start(): void {
    this.#job.start({ immediately: true });
  }

  /** Resolves when the current run has ended. */
  close(): Promise<void> {
    return this.#job.close();
  }

  /** One run; returns the number of deleted records. Rejects when the database fails. */
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
    if (pruned > 0) log.info({ pruned }, "deleted old model call records");
    return pruned;
  }
}
