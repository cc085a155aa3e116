/**
 * Finds and replaces the text of one edit. Pure. Matches exactly; when nothing matches, says how close the file
 * came, so that the next attempt can succeed.
 */

export type Edit = { oldText: string; newText: string; replaceAll?: boolean | undefined };

/** `reason` is made for a model to read. */
export type EditOutcome =
  { kind: "edited"; text: string; replacements: number } | { kind: "unmatched"; reason: string };

/** Comparing stops here, so that a hint costs milliseconds also for a file of a million equal lines. */
const MAX_HINT_COMPARISONS = 1_000_000;
const MAX_HINT_LINE_CHARACTERS = 160;

/** Applies one edit to `text`. The result is refused before it is built when it would exceed `maxCharacters`. */
export function applyEdit(text: string, edit: Edit, maxCharacters: number): EditOutcome {
  if (edit.oldText === "")
    return unmatched("oldText is empty; give the text to be replaced, or write the file.");
  const first = text.indexOf(edit.oldText);
  if (first === -1) return unmatched(`oldText was not found. ${describeNearest(text, edit.oldText)}`);
  if (edit.replaceAll) return replaceAll(text, edit, maxCharacters);
  const occurrences = countOverlapping(text, edit.oldText, first);
  if (occurrences > 1) {
    return unmatched(
      `oldText matches ${occurrences} occurrences; include more surrounding lines to make it unique, or set replaceAll.`,
    );
  }
  const after = text.slice(first + edit.oldText.length);
  return withinLimit(text.length - edit.oldText.length + edit.newText.length, maxCharacters, () => ({
    kind: "edited",
    text: text.slice(0, first) + edit.newText + after,
    replacements: 1,
  }));
}

function unmatched(reason: string): EditOutcome {
  return { kind: "unmatched", reason };
}

function withinLimit(characters: number, maxCharacters: number, build: () => EditOutcome): EditOutcome {
  if (characters <= maxCharacters) return build();
  return unmatched(`the result would have more than ${maxCharacters} characters.`);
}

function replaceAll(text: string, edit: Edit, maxCharacters: number): EditOutcome {
  const pieces = text.split(edit.oldText);
  const replacements = pieces.length - 1;
  const growth = replacements * (edit.newText.length - edit.oldText.length);
  return withinLimit(text.length + growth, maxCharacters, () => ({
    kind: "edited",
    text: pieces.join(edit.newText),
    replacements,
  }));
}

/** Overlapping ones count: with "aa" in "aaa" it is not clear which is meant. */
function countOverlapping(text: string, wanted: string, first: number): number {
  let count = 0;
  for (let at = first; at !== -1; at = text.indexOf(wanted, at + 1)) count += 1;
  return count;
}

function quote(line: string): string {
  const isLong = line.length > MAX_HINT_LINE_CHARACTERS;
  return JSON.stringify(isLong ? `${line.slice(0, MAX_HINT_LINE_CHARACTERS)}…` : line);
}

/** Tells where the beginning of `wanted` matches best and which line is the first to differ. */
function describeNearest(text: string, wanted: string): string {
  if (text.includes("\r\n") && text.includes(wanted.replace(/\r?\n/g, "\r\n"))) {
    return "The file has it with CRLF line endings; use \\r\\n in oldText.";
  }
  const fileLines = text.split("\n");
  const wantedLines = wanted.split("\n");
  const best = longestRun(fileLines, wantedLines);
  if (best.length === 0) return describeFirstLine(fileLines, wantedLines[0] ?? "");
  const fileLine = fileLines[best.start + best.length];
  const wantedLine = wantedLines[best.length] ?? "";
  const where = `The closest match begins at line ${best.start + 1}: its first ${best.length} line(s) match, `;
  if (fileLine === undefined) return `${where}but then the file ends where oldText has ${quote(wantedLine)}.`;
  const line = best.start + best.length + 1;
  return `${where}but line ${line} of the file is ${quote(fileLine)} where oldText has ${quote(wantedLine)}.`;
}

function longestRun(fileLines: string[], wantedLines: string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let comparisons = 0;
  for (let start = 0; start < fileLines.length && comparisons < MAX_HINT_COMPARISONS; start += 1) {
    let length = 0;
    while (length < wantedLines.length && matchesAt(fileLines[start + length], wantedLines, length))
      length += 1;
    comparisons += length + 1;
    if (length > best.length) best = { start, length };
  }
  return best;
}

/** The first line of a text may begin, and the last may end, in the middle of a line of the file. */
function matchesAt(fileLine: string | undefined, wantedLines: string[], index: number): boolean {
  const wantedLine = wantedLines[index] ?? "";
  if (fileLine === undefined) return false;
  if (index === 0 && wantedLines.length > 1) return wantedLine !== "" && fileLine.endsWith(wantedLine);
  if (index === wantedLines.length - 1) return fileLine.startsWith(wantedLine);
  return fileLine === wantedLine;
}

function describeFirstLine(fileLines: string[], wantedLine: string): string {
  const advice = "Read the file again: it must match character by character.";
  const trimmed = wantedLine.trim();
  const index = trimmed === "" ? -1 : fileLines.findIndex((line) => line.trim() === trimmed);
  if (index === -1) return advice;
  return `Line ${index + 1} of the file is ${quote(fileLines[index] ?? "")}, which differs only in white space from ${quote(wantedLine)}.`;
}
