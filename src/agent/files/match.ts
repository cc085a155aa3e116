/**
 * Find and replace for one edit. Pure. Searches for the exact text first and then with increasing tolerance; explains
 * ambiguous and missing matches. The rules are in docs/agent/edits.md.
 */
import { dominantEnding, hasLookalike, parseLines, sharedEnding, withEnding } from "./lines.js";
import { findExact, findWithAnyEnding, type Span } from "./match-exact.js";
import { describeNearest } from "./match-hint.js";
import { areOddSpacesWhite, LineTable, type Tolerance } from "./match-lines.js";
import { spliceLines } from "./splice.js";
import { commonestStep } from "./splice-indent.js";

export type Edit = { oldText: string; newText: string; replaceAll?: boolean | undefined };

/** `reason` is written for a model. */
export type EditOutcome =
  | { kind: "edited"; text: string; replacements: number }
  | { kind: "unmatched"; reason: string }
  | { kind: "too-large"; reason: string };

/** `firstLine` counts from 0; only matches of whole lines have it. */
type Match = Span & { firstLine?: number };

/** One search strategy. `write` returns the replacement of a match that `find` found. */
type Strategy = {
  /** What the strategy ignores, for messages; undefined for an exact search. */
  ignored: string | undefined;
  find(found: (match: Match) => void): void;
  write(match: Match): string;
};

/** Matches that are listed for an ambiguous text. */
const MAX_LISTED_MATCHES = 5;
const HALF_A_CHARACTER = /\p{Surrogate}/u;

const LINE_STRATEGIES: readonly { tolerance: Tolerance; ignored: string }[] = [
  { tolerance: "trailing-space", ignored: "spaces at line ends" },
  { tolerance: "indentation", ignored: "indentation and spaces at line ends" },
  { tolerance: "punctuation", ignored: "indentation, spaces at line ends and typographic punctuation" },
];

/** Applies one edit to `text`. The result is refused before it is built when it would exceed `maxCharacters`. */
export function applyEdit(text: string, edit: Edit, maxCharacters: number): EditOutcome {
  const problem = problemOf(edit);
  if (problem !== undefined) return unmatched(problem);
  const table = new LineTable(text);
  for (const strategy of strategiesFor(table, edit)) {
    const matches = collect(strategy, edit.replaceAll ?? false);
    if (matches.count === 0) continue;
    if (!edit.replaceAll && matches.count > 1) return unmatched(describeAmbiguity(text, strategy, matches));
    return replace(text, matches.chosen, strategy, maxCharacters);
  }
  return unmatched(`oldText was not found. ${whyNotFound(table, edit)}`);
}

function unmatched(reason: string): EditOutcome {
  return { kind: "unmatched", reason };
}

function problemOf({ oldText, newText }: Edit): string | undefined {
  if (oldText === "") return "oldText must not be empty; give the text to be replaced, or write the file.";
  if (HALF_A_CHARACTER.test(oldText)) return "oldText has half a character (a lone surrogate).";
  if (HALF_A_CHARACTER.test(newText)) return "newText has half a character (a lone surrogate).";
  return undefined;
}

function whyNotFound(table: LineTable, edit: Edit): string {
  for (const strategy of changesEndings(edit) ? strategiesFor(table, { ...edit, newText: "" }) : []) {
    if (collect(strategy, false).count > 0) {
      return (
        "newText has other line endings than oldText, so that oldText must be in the file exactly; " +
        `it is there only when ${strategy.ignored ?? "they"} do not count.`
      );
    }
  }
  return describeNearest(table, edit.oldText);
}

/** Whether the edit is meant to change line endings: each text has one kind, and the two differ. */
function changesEndings({ oldText, newText }: Edit): boolean {
  const [oldEnding, newEnding] = [sharedEnding(oldText), sharedEnding(newText)];
  return oldEnding !== undefined && newEnding !== undefined && oldEnding !== newEnding;
}

/** In the order in which they are tried; lazy, as each is needed only when those before it found nothing. */
function* strategiesFor(table: LineTable, edit: Edit): Generator<Strategy> {
  const { text } = table;
  const { oldText, newText } = edit;
  const isOneEnding = sharedEnding(newText) !== undefined;
  const fileEnding = !isOneEnding || changesEndings(edit) ? undefined : dominantEnding(text);
  const adapted = fileEnding === undefined ? newText : withEnding(newText, fileEnding);
  const write = () => adapted;
  yield { ignored: undefined, find: (found) => findExact(text, oldText, found), write };
  if (changesEndings(edit)) return;
  if (oldText.includes("\n") && (text.includes("\r\n") || oldText.includes("\r\n"))) {
    yield { ignored: "line endings", find: (found) => findWithAnyEnding(text, oldText, found), write };
  }
  if (parseLines(oldText, true).every(({ body }) => body === "")) return;
  for (const { tolerance, ignored } of LINE_STRATEGIES) {
    if (tolerance === "punctuation" && !table.hasLookalike && !hasLookalike(oldText)) return;
    yield lineStrategy(table, { oldText, newText: adapted, isOneEnding }, tolerance, ignored);
  }
}

type LineEdit = { oldText: string; newText: string; isOneEnding: boolean };

function lineStrategy(table: LineTable, edit: LineEdit, tolerance: Tolerance, ignored: string): Strategy {
  const wanted = parseLines(edit.oldText, areOddSpacesWhite(tolerance));
  const replacement = parseLines(edit.newText, areOddSpacesWhite(tolerance));
  let step: { spaces: number | undefined } | undefined;
  return {
    ignored,
    find: (found) =>
      table.findLines(wanted, tolerance, (firstLine) => {
        const end = table.startOf(firstLine + wanted.length);
        found({ start: table.startOf(firstLine), end, firstLine });
      }),
    write: ({ firstLine = 0 }) => {
      const window = wanted.map((_, index) => table.parse(firstLine + index, tolerance));
      const fileStep = () => (step ??= { spaces: commonestStep(leadsOf(table, tolerance)) }).spaces;
      return spliceLines({ window, wanted, replacement, fileStep, isOneEnding: edit.isOneEnding });
    },
  };
}

function* leadsOf(table: LineTable, tolerance: Tolerance): Generator<string> {
  for (let index = 0; index < table.count; index += 1) {
    const { lead, body } = table.parse(index, tolerance);
    if (body !== "") yield lead;
  }
}

/** `count` includes overlapping matches: with "aa" in "aaa" it is ambiguous which is meant. */
type Matches = { count: number; chosen: Match[] };

function collect(strategy: Strategy, isAllWanted: boolean): Matches {
  const matches: Matches = { count: 0, chosen: [] };
  let end = 0;
  strategy.find((match) => {
    matches.count += 1;
    const isChosen = isAllWanted ? match.start >= end : matches.count <= MAX_LISTED_MATCHES;
    if (!isChosen) return;
    matches.chosen.push(match);
    end = match.end;
  });
  return matches;
}

function replace(
  text: string,
  matches: readonly Match[],
  strategy: Strategy,
  maxCharacters: number,
): EditOutcome {
  const parts: string[] = [];
  let newCharacters = 0;
  let oldCharacters = 0;
  let end = 0;
  for (const match of matches) {
    const written = strategy.write(match);
    newCharacters += written.length;
    oldCharacters += match.end - match.start;
    if (newCharacters > maxCharacters) break;
    parts.push(text.slice(end, match.start), written);
    end = match.end;
  }
  if (Math.max(newCharacters, text.length - oldCharacters + newCharacters) > maxCharacters)
    return { kind: "too-large", reason: `the result would have more than ${maxCharacters} characters.` };
  parts.push(text.slice(end));
  return { kind: "edited", text: parts.join(""), replacements: matches.length };
}

function describeAmbiguity(text: string, { ignored }: Strategy, { count, chosen }: Matches): string {
  const lines = [...new Set(linesAt(text, chosen))];
  const more = count > chosen.length ? " and further on" : "";
  const where = `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}`;
  const how = ignored === undefined ? "" : ` when ${ignored} do not count`;
  return (
    `oldText matches ${count} occurrences${how} (on ${where}); ` +
    "include more surrounding lines to make it unique, or set replaceAll."
  );
}

/** `matches` are in ascending order. */
function linesAt(text: string, matches: readonly Span[]): number[] {
  let line = 1;
  let newline = text.indexOf("\n");
  return matches.map(({ start }) => {
    for (; newline !== -1 && newline < start; newline = text.indexOf("\n", newline + 1)) line += 1;
    return line;
  });
}
