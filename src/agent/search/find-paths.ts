/** Search for files by a glob. Blocks: runs in a search thread. */
import type { Clock } from "../../lib/clock.js";
import { MAX_SEARCH_ANSWER_BYTES, type FindFilesAnswer } from "../protocol/search.js";
import { compileGlob } from "./glob.js";
import type { FindJob } from "./jobs.js";
import { Walk } from "./walk.js";

export function findPaths(job: FindJob, clock: Clock): FindFilesAnswer {
  const deadline = clock.now() + job.timeMs;
  const walk = new Walk(job.scope, () => clock.now() >= deadline);
  const matches = compileGlob(job.glob);
  const paths: string[] = [];
  let isFull = false;
  let bytes = 0;
  let total = 0;
  for (const path of walk.files()) {
    if (!matches(path)) continue;
    total += 1;
    if (isFull) continue;
    const shown = job.shownPrefix + path;
    bytes += Buffer.byteLength(shown);
    if (bytes <= MAX_SEARCH_ANSWER_BYTES) paths.push(shown);
    isFull = bytes > MAX_SEARCH_ANSWER_BYTES || paths.length === job.limit;
  }
  const { unreadable, wasStopped } = walk;
  return { paths, total, ...(wasStopped && { endedEarly: "time" as const }), unreadable };
}
