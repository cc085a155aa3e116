/**
 * Worker pool for searches, so that neither a large tree nor a slow pattern blocks the agent. A thread starts with its
 * first job, runs one at a time, is terminated when the job's client disconnects or the job takes too long, and ends
 * after an idle period.
 */
import { Worker } from "node:worker_threads";
import type { Clock } from "../../lib/clock.js";
import { done, errorText, refused, type Outcome, type Refusal } from "../outcome.js";
import type { Job, JobAnswers } from "./jobs.js";
import { siblingProgram } from "../../lib/sibling-program.js";

/** Two concurrent searches leave a small machine some capacity. */
const THREADS = 2;
/** A model calls a few tools at a time; jobs behind more than this would time out anyway. */
const MAX_WAITING = 32;
/** A thread checks its own deadline and returns partial results; this much later it counts as stuck. */
const STUCK_AFTER_MS = 3_000;
const IDLE_MS = 60_000;
/** Searches need little memory; a folder of millions of names ends the thread, not the agent. */
const MAX_HEAP_MB = 512;

type Pending = {
  job: Job;
  settle: (outcome: Outcome<JobAnswers[Job["kind"]]>) => void;
};
type Slot = { worker?: Worker; pending?: Pending; stopTimer: () => void };

const cancelled = () => refused(499, "The search was cancelled.");

export class SearchThreads {
  readonly #slots: Slot[] = Array.from({ length: THREADS }, () => ({ stopTimer: () => {} }));
  readonly #waiting: Pending[] = [];
  #isClosed = false;

  constructor(private readonly clock: Clock) {}

  /** Never rejects. When `signal` is aborted the job is cancelled and the outcome is a refusal. */
  async run<Asked extends Job>(job: Asked, signal: AbortSignal): Promise<Outcome<JobAnswers[Asked["kind"]]>> {
    if (this.#isClosed || signal.aborted) return cancelled();
    if (this.#waiting.length >= MAX_WAITING)
      return refused(503, "Too many searches are waiting; try again later.");
    const outcome = await new Promise<Outcome<JobAnswers[Job["kind"]]>>((settle) => {
      const pending = { job, settle };
      this.#waiting.push(pending);
      signal.addEventListener("abort", () => this.#cancel(pending), { once: true });
      this.#assign();
    });
    return outcome as Outcome<JobAnswers[Asked["kind"]]>;
  }

  /** Cancels every search; resolves when the threads have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pending of this.#waiting.splice(0)) pending.settle(cancelled());
    await Promise.all(this.#slots.map((slot) => this.#end(slot, cancelled())));
  }

  #assign(): void {
    for (const slot of this.#slots) {
      if (slot.pending !== undefined) continue;
      const pending = this.#waiting.shift();
      if (pending === undefined) return;
      slot.stopTimer();
      slot.pending = pending;
      slot.worker ??= this.#start(slot);
      slot.worker.postMessage(pending.job);
      const stuck = refused(500, "The search did not end in time; use a simpler pattern.");
      slot.stopTimer = this.clock.after(pending.job.timeMs + STUCK_AFTER_MS, () => {
        void this.#end(slot, stuck);
      });
    }
  }

  #start(slot: Slot): Worker {
    const worker = new Worker(siblingProgram("search-thread", "./thread", import.meta.url).file, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    // Idle threads must not keep the process alive.
    worker.unref();
    // Messages of a thread that is being terminated belong to no job.
    worker.on("message", (answer: JobAnswers[Job["kind"]]) => {
      if (slot.worker === worker) this.#settle(slot, done(answer));
    });
    worker.on("error", (error) => {
      const failed = refused(500, "The search failed.", { detail: errorText(error) });
      if (slot.worker === worker) void this.#end(slot, failed);
    });
    return worker;
  }

  #settle(slot: Slot, outcome: Outcome<JobAnswers[Job["kind"]]>): void {
    slot.stopTimer();
    const { pending } = slot;
    delete slot.pending;
    pending?.settle(outcome);
    if (this.#isClosed) return;
    slot.stopTimer = this.clock.after(IDLE_MS, () => void this.#end(slot, cancelled()));
    this.#assign();
  }

  #cancel(pending: Pending): void {
    const index = this.#waiting.indexOf(pending);
    if (index !== -1) {
      this.#waiting.splice(index, 1);
      pending.settle(cancelled());
    }
    const slot = this.#slots.find((candidate) => candidate.pending === pending);
    if (slot !== undefined) void this.#end(slot, cancelled());
  }

  async #end(slot: Slot, outcome: Refusal): Promise<void> {
    const { worker } = slot;
    delete slot.worker;
    slot.stopTimer();
    if (slot.pending !== undefined) this.#settle(slot, outcome);
    await worker?.terminate();
  }
}
