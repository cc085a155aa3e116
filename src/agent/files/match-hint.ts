/** Hint for a failed edit: where the file comes closest to the text that was not found. Pure. */
import { parseLines, type Line } from "./lines.js";
import { numberLines, OTHER_LINE, type LineTable } from "./match-lines.js";

/** Limits a hint to milliseconds, even for a file of a million equal lines. */
const MAX_HINT_COMPARISONS = 200_000;
const MAX_HINT_LINE_CHARACTERS = 160;
/** Of a long line, the characters shown before the first difference. */
const SHOWN_BEFORE_DIFFERENCE = 60;
/** An equal line counts with its length, up to this: short lines such as `}` are everywhere. */
const MAX_LINE_WEIGHT = 20;
/** Smallest weight of a location, and fewest visible characters by which a line is recognised. */
const MIN_SIGNIFICANT_CHARACTERS = 3;
/** Shortest prefix of the text that counts as found, and the longest that is searched for. */
const MIN_PREFIX_CHARACTERS = 8;
const MAX_PREFIX_CHARACTERS = 128;
const MAX_LISTED_CODE_POINTS = 5;
/** Of equal lines of the text, the number that takes part in the search for the location. */
const MAX_EQUAL_LINES = 20;

const ADVICE = "Read the file again: it must match character by character.";

/** `wanted` must not be in the text. */
export function describeNearest(table: LineTable, wanted: string): string {
  return (
    describeLocation(table, wanted) ?? describeLine(table, wanted) ?? describePrefix(table, wanted) ?? ADVICE
  );
}

/** The location where the most lines match, and the first line there that does not. */
function describeLocation(table: LineTable, wanted: string): string | undefined {
  const wantedLines = parseLines(wanted, true);
  const { ids, wantedIds } = numberLines(wantedLines, "punctuation");
  const fileIds = table.idsOf(ids, "punctuation");
  const first = mostEqual(fileIds, wantedIds, wantedLines);
  if (first === undefined) return undefined;
  const equal = wantedIds.filter((id, index) => fileIds[first + index] === id).length;
  const raw = wantedLines.map(rawContent);
  const index = firstDifference(raw, (at) => contentAt(table, first + at), {
    isEqual: (at) => fileIds[first + at] === wantedIds[at],
    endsWithNewline: wanted.endsWith("\n"),
  });
  const where = `The closest place begins at line ${first + 1}: ${equal} of ${raw.length} line(s) match there, but `;
  const line = first + index;
  if (line >= table.count) return `${where}the file ends where oldText has ${quote(raw[index] ?? "")}.`;
  return `${where}line ${line + 1} of the file ${compare(contentAt(table, line), raw[index] ?? "")}`;
}

/** The first line of the location with the greatest total weight of equal lines; the earliest of several. */
function mostEqual(
  fileIds: Int32Array,
  wantedIds: readonly number[],
  wantedLines: readonly Line[],
): number | undefined {
  const weights = wantedLines.map(({ body }) => Math.min(body.length, MAX_LINE_WEIGHT));
  const positions = new Map<number, number[]>();
  for (const [index, id] of wantedIds.entries()) {
    if (weights[index] === 0) continue;
    const known = positions.get(id);
    if (known === undefined) positions.set(id, [index]);
    else if (known.length < MAX_EQUAL_LINES) known.push(index);
  }
  const votes = new Map<number, number>();
  let best: { first: number; weight: number } | undefined;
  let comparisons = 0;
  for (let line = 0; line < fileIds.length && comparisons < MAX_HINT_COMPARISONS; line += 1) {
    const id = fileIds[line] ?? OTHER_LINE;
    for (const index of positions.get(id) ?? []) {
      comparisons += 1;
      const first = line - index;
      if (first < 0) continue;
      const weight = (votes.get(first) ?? 0) + (weights[index] ?? 0);
      votes.set(first, weight);
      if (best === undefined || weight > best.weight || (weight === best.weight && first < best.first))
        best = { first, weight };
    }
  }
  return best && best.weight >= MIN_SIGNIFICANT_CHARACTERS ? best.first : undefined;
}

/** Index of the first differing line. The text may begin and end in the middle of a line of the file. */
function firstDifference(
  wanted: readonly string[],
  fileLine: (index: number) => string,
  { isEqual, endsWithNewline }: { isEqual(index: number): boolean; endsWithNewline: boolean },
): number {
  const isEnd = (index: number) => index === wanted.length - 1 && !endsWithNewline;
  const fits = (index: number) =>
    isEqual(index) ||
    (index === 0 && !isEnd(0) && fileLine(0).endsWith(wanted[0] ?? "")) ||
    (isEnd(index) && fileLine(index).startsWith(wanted[index] ?? ""));
  const clear = wanted.findIndex((_, index) => !fits(index));
  if (clear !== -1) return clear;
  return Math.max(
    0,
    wanted.findIndex((line, index) => fileLine(index) !== line),
  );
}

/**
 * A line that differs from the wanted one only in inner spaces, accents, letters of other scripts or hidden
 * characters.
 */
function describeLine(table: LineTable, wanted: string): string | undefined {
  const line = parseLines(wanted, true).find(({ body }) => body.length >= MIN_SIGNIFICANT_CHARACTERS);
  if (line === undefined) return undefined;
  const skeleton = skeletonOf(line.body);
  if (skeleton.length < MIN_SIGNIFICANT_CHARACTERS) return undefined;
  for (let index = 0; index < table.count; index += 1) {
    const raw = table.raw(index);
    if (raw.length < skeleton.length || skeletonOf(raw) !== skeleton) continue;
    return `Line ${index + 1} of the file ${compare(contentAt(table, index), rawContent(line))}`;
  }
  return undefined;
}

/** The visible ASCII characters. An accented letter counts as its base letter, in whichever form it is encoded. */
function skeletonOf(text: string): string {
  const isAscii = !/[^\0-\x7f]/.test(text);
  return (isAscii ? text : text.normalize("NFKD")).replace(/[^!-~]+/g, "");
}

/** The longest prefix of the text that the file contains, by binary search over its length. */
function describePrefix({ text }: LineTable, wanted: string): string | undefined {
  const start = wanted.trimStart();
  let found = 0;
  let missing = Math.min(start.length, MAX_PREFIX_CHARACTERS) + 1;
  while (missing - found > 1) {
    const middle = (found + missing) >>> 1;
    if (text.includes(start.slice(0, middle))) found = middle;
    else missing = middle;
  }
  if (found < MIN_PREFIX_CHARACTERS) return undefined;
  const at = text.indexOf(start.slice(0, found));
  const lineStart = start.lastIndexOf("\n", found - 1) + 1;
  const first = countNewlines(text, at) + 1;
  const line = countNewlines(text, at + lineStart) + 1;
  const [there, expected] = [lineFrom(text, at + lineStart), lineFrom(start, lineStart)];
  return `Its beginning is at line ${first}, but line ${line} of the file ${compare(there, expected)}`;
}

function lineFrom(text: string, start: number): string {
  const newline = text.indexOf("\n", start);
  return text.slice(start, newline === -1 ? undefined : newline).replace(/\r$/, "");
}

function countNewlines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function contentAt(table: LineTable, index: number): string {
  return index < table.count ? rawContent(table.parse(index, "indentation")) : "";
}

function rawContent({ lead, body, trail }: Line): string {
  return lead + body + trail;
}

/** "has … where oldText has …", and the non-ASCII characters that only one of them has. */
function compare(fileLine: string, wantedLine: string): string {
  let same = 0;
  while (same < fileLine.length && fileLine[same] === wantedLine[same]) same += 1;
  const from = Math.max(0, same - SHOWN_BEFORE_DIFFERENCE);
  return `has ${quote(fileLine, from)} where oldText has ${quote(wantedLine, from)}.${nonAsciiNote(fileLine, wantedLine)}`;
}

function quote(line: string, from = 0): string {
  const shown = line.slice(from, from + MAX_HINT_LINE_CHARACTERS);
  const isCut = from + shown.length < line.length;
  return JSON.stringify(`${from > 0 ? "…" : ""}${shown}${isCut ? "…" : ""}`);
}

function nonAsciiNote(fileLine: string, wantedLine: string): string {
  const [fromFile, fromWanted] = [countNonAscii(fileLine), countNonAscii(wantedLine)];
  const onlyFile = moreIn(fromFile, fromWanted);
  const onlyWanted = moreIn(fromWanted, fromFile);
  if (onlyFile.length + onlyWanted.length === 0) return "";
  return ` Beyond ASCII the file has ${listCodePoints(onlyFile)} and oldText has ${listCodePoints(onlyWanted)}.`;
}

function countNonAscii(line: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const character of line.match(/[^\0-\x7f]/gu) ?? []) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return counts;
}

function moreIn(counts: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>): string[] {
  return [...counts].flatMap(([character, count]) =>
    count > (others.get(character) ?? 0) ? [character] : [],
  );
}

function listCodePoints(characters: readonly string[]): string {
  if (characters.length === 0) return "nothing more";
  const names = characters
    .slice(0, MAX_LISTED_CODE_POINTS)
    .map((character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`);
  const more = characters.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
