/** Search for lines by a regular expression. Blocks: runs in a search thread. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.js";
import {
  MAX_COUNTED_LINES,
  MAX_SEARCH_ANSWER_BYTES,
  MAX_SEARCHED_FILE_BYTES,
  type FoundLine,
  type SearchFilesAnswer,
} from "../protocol/search.js";
import { showFoundLine } from "./found-line.js";
import { compileGlob } from "./glob.js";
import type { SearchJob } from "./jobs.js";
import type { LinePattern } from "./line-pattern.js";
import { parseCounts } from "./ripgrep-counts.js";
import { readTextFile } from "./text-file.js";
import { Walk } from "./walk.js";

/** Enough to recognise what was skipped. */
const MAX_NAMED_LARGE_FILES = 5;

export function searchLines(job: SearchJob, findMatch: LinePattern, clock: Clock): SearchFilesAnswer {
  const deadline = clock.now() + job.timeMs;
  const walk = new Walk(job.scope, () => clock.now() >= deadline);
  const matches = job.glob === undefined ? () => true : compileGlob(job.glob);
  const results = new Results(job, findMatch);
  for (const path of walk.files()) {
    if (matches(path)) results.add(path);
    if (results.answer.totalLines >= MAX_COUNTED_LINES) break;
  }
  return results.finish(walk);
}

/** Accumulator of the response. */
class Results {
  readonly answer: SearchFilesAnswer = {
    files: [],
    totalLines: 0,
    totalFiles: 0,
    tooLarge: { total: 0, paths: [] },
    unreadable: 0,
  };
  readonly #counts: ReadonlyMap<string, number> | undefined;
  #shownLines = 0;
  #shownBytes = 0;
  #isFull = false;

  constructor(
    private readonly job: SearchJob,
    private readonly findMatch: LinePattern,
  ) {
    this.#counts = job.counts && parseCounts(job.counts.bytes);
  }

  add(path: string): void {
    const absolute = join(this.job.scope.folder, path);
    try {
      const stats = statSync(absolute, { throwIfNoEntry: false });
      if (stats !== undefined && stats.size > MAX_SEARCHED_FILE_BYTES) return this.#skip(path);
      if (this.#counts === undefined) return this.#read(path, absolute);
      const count = this.#counts.get(path);
      if (count === undefined) return;
      if (this.#isFull) this.#count(count);
      else this.#read(path, absolute);
    } catch {
      this.answer.unreadable += 1;
    }
  }

  finish({ unreadable, wasStopped }: Walk): SearchFilesAnswer {
    this.answer.unreadable += unreadable;
    if (this.answer.totalLines >= MAX_COUNTED_LINES) this.answer.endedEarly = "count";
    else if (wasStopped || this.job.counts?.isComplete === false) this.answer.endedEarly = "time";
    return this.answer;
  }

  #read(path: string, absolute: string): void {
    const file = readTextFile(absolute);
    if (file.kind === "too-large") return this.#skip(path);
    if (file.kind === "binary") return;
    const shown = { path: this.job.shownPrefix + path, lines: [] as FoundLine[] };
    let count = 0;
    for (const [index, line] of file.lines.entries()) {
      const start = this.findMatch(line);
      if (start === -1) continue;
      count += 1;
      if (!this.#isFull) this.#show(shown, { line: index + 1, text: showFoundLine(line, start) });
    }
    this.#count(count);
    if (shown.lines.length > 0) this.answer.files.push(shown);
  }

  #show({ path, lines }: SearchFilesAnswer["files"][number], found: FoundLine): void {
    this.#shownBytes += Buffer.byteLength(found.text) + (lines.length === 0 ? Buffer.byteLength(path) : 0);
    const fits = this.#shownBytes <= MAX_SEARCH_ANSWER_BYTES;
    if (fits) {
      lines.push(found);
      this.#shownLines += 1;
    }
    this.#isFull = !fits || this.#shownLines >= this.job.limit;
  }

  #count(lines: number): void {
    if (lines === 0) return;
    this.answer.totalLines += lines;
    this.answer.totalFiles += 1;
  }

  #skip(path: string): void {
    const { tooLarge } = this.answer;
    tooLarge.total += 1;
    if (tooLarge.paths.length < MAX_NAMED_LARGE_FILES) tooLarge.paths.push(this.job.shownPrefix + path);
  }
}
