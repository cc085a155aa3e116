/**
 * Finds and replaces the text of one edit. Pure. Looks for the text as it is first and then ever more tolerantly;
 * what it finds more than once, or not at all, it explains. The rules are in docs/agent/edits.md.
 */
import { dominantEnding, hasLookalike, parseLines, sharedEnding, withEnding } from "./lines.js";
import { findExact, findWithAnyEnding, type Span } from "./match-exact.js";
import { describeNearest } from "./match-hint.js";
import { areOddSpacesWhite, LineTable, type Tolerance } from "./match-lines.js";
import { spliceLines } from "./splice.js";
import { commonestStep } from "./splice-indent.js";

export type Edit = { oldText: string; newText: string; replaceAll?: boolean | undefined };

/** `reason` is made for a model to read. */
export type EditOutcome =
  | { kind: "edited"; text: string; replacements: number }
  | { kind: "unmatched"; reason: string }
  | { kind: "too-large"; reason: string };

/** `firstLine` counts from 0; only whole lines have it. */
type Place = Span & { firstLine?: number };

/** One way of looking. `write` gives the text for a place that `find` found. */
type Way = {
  /** What is said of a place found by it; undefined when it is quite as it was asked for. */
  ignored: string | undefined;
  find(found: (place: Place) => void): void;
  write(place: Place): string;
};

/** Of the places where an ambiguous text was found, so many are told. */
const MAX_PLACES_TOLD = 5;
const HALF_A_CHARACTER = /\p{Surrogate}/u;

const LINE_WAYS: readonly { tolerance: Tolerance; ignored: string }[] = [
  { tolerance: "trailing-space", ignored: "spaces at line ends" },
  { tolerance: "indentation", ignored: "indentation and spaces at line ends" },
  { tolerance: "punctuation", ignored: "indentation, spaces at line ends and typographic punctuation" },
];

/** Applies one edit to `text`. The result is refused before it is built when it would exceed `maxCharacters`. */
export function applyEdit(text: string, edit: Edit, maxCharacters: number): EditOutcome {
  const problem = problemOf(edit);
  if (problem !== undefined) return unmatched(problem);
  const table = new LineTable(text);
  for (const way of waysOf(table, edit)) {
    const places = collect(way, edit.replaceAll ?? false);
    if (places.count === 0) continue;
    if (!edit.replaceAll && places.count > 1) return unmatched(describeAmbiguity(text, way, places));
    return replace(text, places.chosen, way, maxCharacters);
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
  for (const way of changesEndings(edit) ? waysOf(table, { ...edit, newText: "" }) : []) {
    if (collect(way, false).count > 0) {
      return (
        "newText has other line endings than oldText, so that oldText must be in the file exactly; " +
        `it is there only when ${way.ignored ?? "they"} do not count.`
      );
    }
  }
  return describeNearest(table, edit.oldText);
}

/** Texts of one kind of line endings each, and not the same: the wish is to change them. */
function changesEndings({ oldText, newText }: Edit): boolean {
  const [oldEnding, newEnding] = [sharedEnding(oldText), sharedEnding(newText)];
  return oldEnding !== undefined && newEnding !== undefined && oldEnding !== newEnding;
}

/** In the order in which they are tried; each is built only when those before it found nothing. */
function* waysOf(table: LineTable, edit: Edit): Generator<Way> {
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
  for (const { tolerance, ignored } of LINE_WAYS) {
    if (tolerance === "punctuation" && !table.hasLookalike && !hasLookalike(oldText)) return;
    yield lineWay(table, { oldText, newText: adapted, isOneEnding }, tolerance, ignored);
  }
}

type LineEdit = { oldText: string; newText: string; isOneEnding: boolean };

function lineWay(table: LineTable, edit: LineEdit, tolerance: Tolerance, ignored: string): Way {
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

/** `count` counts overlapping places too: with "aa" in "aaa" it is not clear which is meant. */
type Places = { count: number; chosen: Place[] };

function collect(way: Way, isAllWanted: boolean): Places {
  const places: Places = { count: 0, chosen: [] };
  let end = 0;
  way.find((place) => {
    places.count += 1;
    const isChosen = isAllWanted ? place.start >= end : places.count <= MAX_PLACES_TOLD;
    if (!isChosen) return;
    places.chosen.push(place);
    end = place.end;
  });
  return places;
}

function replace(text: string, places: readonly Place[], way: Way, maxCharacters: number): EditOutcome {
  const pieces: string[] = [];
  let newCharacters = 0;
  let oldCharacters = 0;
  let end = 0;
  for (const place of places) {
    const written = way.write(place);
    newCharacters += written.length;
    oldCharacters += place.end - place.start;
    if (newCharacters > maxCharacters) break;
    pieces.push(text.slice(end, place.start), written);
    end = place.end;
  }
  if (Math.max(newCharacters, text.length - oldCharacters + newCharacters) > maxCharacters)
    return { kind: "too-large", reason: `the result would have more than ${maxCharacters} characters.` };
  pieces.push(text.slice(end));
  return { kind: "edited", text: pieces.join(""), replacements: places.length };
}

function describeAmbiguity(text: string, { ignored }: Way, { count, chosen }: Places): string {
  const lines = [...new Set(linesAt(text, chosen))];
  const more = count > chosen.length ? " and further on" : "";
  const where = `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${more}`;
  const how = ignored === undefined ? "" : ` when ${ignored} do not count`;
  return (
    `oldText matches ${count} occurrences${how} (on ${where}); ` +
    "include more surrounding lines to make it unique, or set replaceAll."
  );
}

/** `places` are in ascending order. */
function linesAt(text: string, places: readonly Span[]): number[] {
  let line = 1;
  let newline = text.indexOf("\n");
  return places.map(({ start }) => {
    for (; newline !== -1 && newline < start; newline = text.indexOf("\n", newline + 1)) line += 1;
    return line;
  });
}
