/** Jobs and results of search threads; plain values, because they are passed between threads. */
import type { FindFilesAnswer, SearchFilesAnswer } from "../protocol/search.js";
import type { SearchScope } from "./ignore-files.js";

export type FindJob = {
  kind: "find";
  scope: SearchScope;
  glob: string;
  limit: number;
  /** Prefix of the paths in the result: the path from the client's folder to the scope's. */
  shownPrefix: string;
  timeMs: number;
};

export type SearchJob = {
  kind: "search";
  scope: SearchScope;
  /** Valid RE2. */
  pattern: string;
  ignoreCase: boolean;
  glob: string | undefined;
  limit: number;
  shownPrefix: string;
  timeMs: number;
  /** Matching lines by file, counted by ripgrep; without it every file is read. */
  counts: RipgrepCounts | undefined;
};

/** `bytes` are `./path`, NUL, number and newline for each file with a match. */
export type RipgrepCounts = { bytes: Uint8Array; isComplete: boolean };

export type JobAnswers = { find: FindFilesAnswer; search: SearchFilesAnswer };
export type Job = FindJob | SearchJob;
