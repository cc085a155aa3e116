/** Program of a search thread: runs one job at a time, and may be terminated at any moment. */
import { parentPort } from "node:worker_threads";
import { systemClock } from "../../lib/clock.js";
import { findPaths } from "./find-paths.js";
import type { Job, JobAnswers } from "./jobs.js";
import { compileLinePattern } from "./line-pattern.js";
import { searchLines } from "./search-lines.js";

function work(job: Job): JobAnswers[Job["kind"]] {
  if (job.kind === "find") return findPaths(job, systemClock);
  const compiled = compileLinePattern(job.pattern, job.ignoreCase);
  if (compiled.kind === "refused") throw new Error(compiled.message);
  return searchLines(job, compiled.value, systemClock);
}

// An exception ends the thread and reaches its owner as an `error` event.
parentPort?.on("message", (job: Job) => parentPort?.postMessage(work(job)));
