/**
 * Background backfill of `chat_storage` for chats older than that table; see migrations/0026-storage.ts. Runs on any
 * number of replicas, one at a time, and resumes where the last one stopped.
 */
import type { Clock } from "../../lib/clock.js";
import { sleep } from "../../lib/clock.js";
import type { Log } from "../../lib/log.js";
import { PeriodicJob } from "../../lib/concurrency/periodic-job.js";
import type { Database } from "../../store/common/database.js";
import { countNextChat, type CountStep } from "../../store/files/storage-count.js";

const TICK_MS = 60_000;
/** Chats per run; the rest follows in the next one. */
const MAX_CHATS = 5_000;
/** Pauses as long as it has worked, so that it uses at most half of one connection. */
const REST_PER_WORK = 1;

export type StorageCountDependencies = { database: Database; clock: Clock; log: Log };

export class StorageCount {
  readonly #job: PeriodicJob;
  readonly #stop = new AbortController();

  constructor(private readonly dependencies: StorageCountDependencies) {
    this.#job = new PeriodicJob({
      clock: dependencies.clock,
      intervalMs: TICK_MS,
      run: () => this.count(),
      onError: (error) => dependencies.log.error({ err: error }, "counting stored bytes failed; retrying"),
    });
  }

  /** Runs at once and then every minute, until all chats are counted. */
  start(): void {
    this.#job.start({ immediately: true });
  }

  /** Resolves when the chat that is being counted is done. */
  close(): Promise<void> {
    this.#stop.abort();
    return this.#job.close();
  }

  /** One run; returns the number of counted chats. Rejects when the database fails. */
  async count(): Promise<number> {
    const { database, clock, log } = this.dependencies;
    let counted = 0;
    let step: CountStep = "counted";
    while (step === "counted" && counted < MAX_CHATS && !this.#job.isClosing) {
      const startedAt = clock.now();
      step = await countNextChat(database);
      if (step === "counted") counted += 1;
      const restMs = REST_PER_WORK * (clock.now() - startedAt);
      if (restMs > 0) await sleep(clock, restMs, this.#stop.signal);
    }
    if (step === "done") this.#job.stop();
    if (counted > 0)
      log.info({ chats: counted, isDone: step === "done" }, "counted stored bytes of older chats");
    return counted;
  }
}
