/** What a search thread is asked and what it answers; plain values, because they travel between threads. */
import type { FindFilesAnswer, SearchFilesAnswer } from "../protocol/search.js";
import type { SearchScope } from "./ignore-files.js";

export type FindJob = {
  kind: "find";
  scope: SearchScope;
  glob: string;
  limit: number;
  /** Comes before the paths of the answer: the way from the caller's folder to the scope's. */
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
  /** How many lines of which file match, as ripgrep told it; without it every file is read. */
  counts: RipgrepCounts | undefined;
};

/** `bytes` are `./path`, NUL, number and newline for each file with a match. */
export type RipgrepCounts = { bytes: Uint8Array; isComplete: boolean };

export type JobAnswers = { find: FindFilesAnswer; search: SearchFilesAnswer };
export type Job = FindJob | SearchJob;
