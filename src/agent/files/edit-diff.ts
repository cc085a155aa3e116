/** Unified diff of an edited file, bounded in length and in computing time. Pure. */
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatchHunk } from "diff";
import { cutText } from "../../lib/text/utf8.js";

const CONTEXT_LINES = 3;
/** Longest diff of a file: as much as a model can read at once. */
const MAX_DIFF_BYTES = 32 * 1024;
/** All diffs of a request together. */
const MAX_DIFFS_BYTES = 1024 * 1024;
/** Comparing takes time in the square of the changed lines: 0.1 s for these, all files of a request together. */
const MAX_CHANGED_LINES = 1500;
/** Changed regions of more lines are not compared: splitting them takes longer than comparing. */
const MAX_COMPARED_LINES = 100_000;
/** In a diff that is too long, lines are cut to this before whole lines are omitted. */
const MAX_CUT_LINE_BYTES = 1024;
const CUT_MARK = "... [cut]";
/** Reserved for the line that says how much is omitted. */
const NOTE_BYTES = 64;
const NO_NEWLINE = "\\ No newline at end of file";

/** The changed lines of both texts with their context; `skippedLines` is the number of lines before them. */
type Region = { before: string; after: string; skippedLines: number };

/** `maxBytes` must be at least a few hundred; `maxChangedLines` counts removed and added lines together. */
export type DiffLimits = { maxBytes: number; maxChangedLines: number };

/** Each diff's limits in a request with `count` of them. */
export function diffLimits(count: number): DiffLimits {
  return {
    maxBytes: Math.min(MAX_DIFF_BYTES, Math.floor(MAX_DIFFS_BYTES / count)),
    maxChangedLines: Math.floor(Math.sqrt(MAX_CHANGED_LINES ** 2 / count)),
  };
}

/** `""` when nothing changed. `path` is the name on both sides. */
export function unifiedDiff(path: string, before: string, after: string, limits: DiffLimits): string {
  if (before === after) return "";
  const { maxBytes, maxChangedLines } = limits;
  const region = changedRegion(before, after);
  const hunks = compare(region, maxChangedLines) ?? [wholeHunk(region, maxBytes)];
  const shifted = hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + region.skippedLines,
    newStart: hunk.newStart + region.skippedLines,
  }));
  const names = { oldFileName: path, newFileName: path, oldHeader: undefined, newHeader: undefined };
  return shorten(formatPatch({ ...names, hunks: shifted }, FILE_HEADERS_ONLY), maxBytes);
}

function compare({ before, after }: Region, maxEditLength: number): StructuredPatchHunk[] | undefined {
  if (countLines(before) + countLines(after) > MAX_COMPARED_LINES) return undefined;
  const options = { context: CONTEXT_LINES, maxEditLength };
  return structuredPatch("", "", before, after, undefined, undefined, options)?.hunks;
}

function changedRegion(before: string, after: string): Region {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before.charCodeAt(head) === after.charCodeAt(head)) head += 1;
  let tail = 0;
  while (
    tail < shorter - head &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  )
    tail += 1;
  const start = contextStart(before, head);
  const end = contextEnd(before, before.length - tail);
  return {
    before: before.slice(start, end),
    after: after.slice(start, after.length - (before.length - end)),
    skippedLines: countNewlines(before.slice(0, start)),
  };
}

/** Start of the context before the line at `offset`. */
function contextStart(text: string, offset: number): number {
  let start = lineStart(text, offset);
  for (let line = 0; line < CONTEXT_LINES; line += 1) start = lineStart(text, start - 1);
  return start;
}

function lineStart(text: string, offset: number): number {
  return offset <= 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** End of the context after the line at `offset`. */
function contextEnd(text: string, offset: number): number {
  let end = offset;
  for (let line = 0; line <= CONTEXT_LINES; line += 1) {
    const newline = text.indexOf("\n", end);
    if (newline === -1) return text.length;
    end = newline + 1;
  }
  return end;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function countLines(text: string): number {
  return countNewlines(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
}

/** A hunk that replaces the whole region; of both texts only as much as can be shown. */
function wholeHunk({ before, after }: Region, maxBytes: number): StructuredPatchHunk {
  return {
    oldStart: 1,
    oldLines: countLines(before),
    newStart: 1,
    newLines: countLines(after),
    lines: [...marked("-", before, maxBytes), ...marked("+", after, maxBytes)],
  };
}

function marked(mark: string, text: string, maxBytes: number): string[] {
  if (text === "") return [];
  // Every shown line takes at least one byte.
  const lines = text.split("\n", maxBytes).map((line) => mark + line);
  if (lines.length === maxBytes) return lines;
  if (text.endsWith("\n")) return lines.slice(0, -1);
  return [...lines, NO_NEWLINE];
}

/** Cuts long lines first; if that is not enough, omits the last lines. */
function shorten(diff: string, maxBytes: number): string {
  if (Buffer.byteLength(diff) <= maxBytes) return diff;
  const lines = diff.slice(0, -1).split("\n");
  const shownLines: string[] = [];
  let bytes = NOTE_BYTES;
  for (const line of lines) {
    const cut = cutText(line, MAX_CUT_LINE_BYTES);
    const shown = cut === line ? line : cut + CUT_MARK;
    bytes += Buffer.byteLength(shown) + 1;
    if (bytes > maxBytes) break;
    shownLines.push(shown);
  }
  const rest = lines.length - shownLines.length;
  return `${shownLines.join("\n")}\n${rest > 0 ? `\\ ${rest} or more lines of this diff are left out\n` : ""}`;
}
