/**
 * The threads in which searches run, so that neither a large tree nor a slow pattern holds up the agent's other
 * work. A thread starts with its first job, works on one at a time, is ended when the job's caller goes away or the
 * job takes too long, and leaves when it has had nothing to do for a while.
 */
import { Worker } from "node:worker_threads";
import type { Clock } from "../../lib/clock.js";
import { done, errorText, refused, type Outcome, type Refusal } from "../outcome.js";
import type { Job, JobAnswers } from "./jobs.js";
import { siblingProgram } from "../../lib/sibling-program.js";

/** Two searches at once leave a small machine some breath. */
const THREADS = 2;
/** A model calls a few tools at a time; whoever has more than this in the queue would not live to see the end. */
const MAX_WAITING = 32;
/** A thread watches its own time and answers with what it has; this much later it is taken to be stuck. */
const STUCK_AFTER_MS = 3_000;
const IDLE_MS = 60_000;
/** A walk and an answer need little; a folder of millions of names ends the thread, not the agent. */
const MAX_HEAP_MB = 512;

type Pending = {
  job: Job;
  settle: (outcome: Outcome<JobAnswers[Job["kind"]]>) => void;
};
type Lane = { worker?: Worker; pending?: Pending; stopTimer: () => void };

const abandoned = () => refused(499, "The search was given up.");

export class SearchThreads {
  readonly #lanes: Lane[] = Array.from({ length: THREADS }, () => ({ stopTimer: () => {} }));
  readonly #waiting: Pending[] = [];
  #isClosed = false;

  constructor(private readonly clock: Clock) {}

  /** Never rejects. When `signal` is aborted the job is dropped and the outcome is a refusal. */
  async run<Asked extends Job>(job: Asked, signal: AbortSignal): Promise<Outcome<JobAnswers[Asked["kind"]]>> {
    if (this.#isClosed || signal.aborted) return abandoned();
    if (this.#waiting.length >= MAX_WAITING) return refused(503, "Too many searches wait; try again later.");
    const outcome = await new Promise<Outcome<JobAnswers[Job["kind"]]>>((settle) => {
      const pending = { job, settle };
      this.#waiting.push(pending);
      signal.addEventListener("abort", () => this.#drop(pending), { once: true });
      this.#assign();
    });
    return outcome as Outcome<JobAnswers[Asked["kind"]]>;
  }

  /** Gives up every search; resolves when the threads are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pending of this.#waiting.splice(0)) pending.settle(abandoned());
    await Promise.all(this.#lanes.map((lane) => this.#end(lane, abandoned())));
  }

  #assign(): void {
    for (const lane of this.#lanes) {
      if (lane.pending !== undefined) continue;
      const pending = this.#waiting.shift();
      if (pending === undefined) return;
      lane.stopTimer();
      lane.pending = pending;
      lane.worker ??= this.#start(lane);
      lane.worker.postMessage(pending.job);
      const stuck = refused(500, "The search did not end in time; use a simpler pattern.");
      lane.stopTimer = this.clock.after(pending.job.timeMs + STUCK_AFTER_MS, () => {
        void this.#end(lane, stuck);
      });
    }
  }

  #start(lane: Lane): Worker {
    const worker = new Worker(siblingProgram("search-thread", "./thread", import.meta.url).file, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    // The agent's own listening keeps it alive, idle threads must not.
    worker.unref();
    // What a thread that is being ended still says belongs to no job any more.
    worker.on("message", (answer: JobAnswers[Job["kind"]]) => {
      if (lane.worker === worker) this.#settle(lane, done(answer));
    });
    worker.on("error", (error) => {
      const failed = refused(500, "The search failed.", { detail: errorText(error) });
      if (lane.worker === worker) void this.#end(lane, failed);
    });
    return worker;
  }

  #settle(lane: Lane, outcome: Outcome<JobAnswers[Job["kind"]]>): void {
    lane.stopTimer();
    const { pending } = lane;
    delete lane.pending;
    pending?.settle(outcome);
    if (this.#isClosed) return;
    lane.stopTimer = this.clock.after(IDLE_MS, () => void this.#end(lane, abandoned()));
    this.#assign();
  }

  #drop(pending: Pending): void {
    const index = this.#waiting.indexOf(pending);
    if (index !== -1) {
      this.#waiting.splice(index, 1);
      pending.settle(abandoned());
    }
    const lane = this.#lanes.find((candidate) => candidate.pending === pending);
    if (lane !== undefined) void this.#end(lane, abandoned());
  }

  async #end(lane: Lane, outcome: Refusal): Promise<void> {
    const { worker } = lane;
    delete lane.worker;
    lane.stopTimer();
    if (lane.pending !== undefined) this.#settle(lane, outcome);
    await worker?.terminate();
  }
}
