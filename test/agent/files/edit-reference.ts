// Reference implementation of the rules E10–E30 of docs/agent/edits.md, as plain as possible and not optimised, with
// which the edit engine is compared. Shares no code with it.

export type ReferenceEdit = { oldText: string; newText: string; replaceAll: boolean };
export type Way = "exact" | "endings" | "trailing" | "indentation" | "lookalikes";
export type ReferenceOutcome =
  | { kind: "edited"; way: Way; text: string; replacements: number }
  | { kind: "ambiguous"; way: Way; count: number }
  | { kind: "not-found" };

type Row = { indent: string; body: string; trail: string; ending: string };
/** Range of characters in the file; for whole lines also the first row. */
type Found = { from: number; to: number; row: number };

const LOOKALIKES: Record<string, string> = {
  "-": "‐‑‒–—―−",
  "'": "‘’‚‛",
  '"': "“”„‟",
  " ": "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
};

const ROW = rowPattern(" \t");
const WIDE_ROW = rowPattern(` \t${LOOKALIKES[" "]}`);

function rowPattern(spaces: string): RegExp {
  return new RegExp(`^([${spaces}]*)([^]*?)([${spaces}]*)(\r\n|\n|)$`);
}

function plain(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (character) => {
    return Object.keys(LOOKALIKES).find((ascii) => LOOKALIKES[ascii]?.includes(character)) ?? character;
  });
}

function rowsOf(text: string, way: Way): Row[] {
  const pattern = way === "lookalikes" ? WIDE_ROW : ROW;
  return text.split(/(?<=\n)/).flatMap((line) => {
    const [, indent = "", body = "", trail = "", ending = ""] = pattern.exec(line) ?? [];
    return line === "" ? [] : [{ indent, body, trail, ending }];
  });
}

function sameRow(one: Row, other: Row, way: Way): boolean {
  if (one.body === "" || other.body === "") return one.body === other.body;
  if (way === "trailing") return one.indent === other.indent && one.body === other.body;
  return way === "indentation" ? one.body === other.body : plain(one.body) === plain(other.body);
}

/** The line ending of a text; undefined when it has none or several kinds. */
function kindOf(text: string): "\n" | "\r\n" | undefined {
  const kinds = new Set(text.match(/\r?\n/g));
  const [kind] = kinds;
  return kinds.size === 1 ? (kind === "\n" ? "\n" : "\r\n") : undefined;
}

function majority(text: string): string | undefined {
  const endings: string[] = text.match(/\r?\n/g) ?? [];
  if (endings.length === 0) return undefined;
  return endings.filter((ending) => ending === "\r\n").length > endings.length / 2 ? "\r\n" : "\n";
}

/** E12: tries every offset. */
function findExactly(text: string, wanted: string): Found[] {
  return text.split("").flatMap((character, from) => {
    const isInside = character === "\n" && text[from - 1] === "\r";
    if (isInside || !text.startsWith(wanted, from)) return [];
    return [{ from, to: from + wanted.length, row: -1 }];
  });
}

/** E13: as E12, with each line ending as one unit. */
function findWithAnyEnding(text: string, wanted: string): Found[] {
  const units = (value: string): string[] => value.match(/\r\n|[^]/g) ?? [];
  const isEnding = (unit: string | undefined) => unit === "\n" || unit === "\r\n";
  const [there, searched] = [units(text), units(wanted)];
  return there.flatMap((_, first) => {
    const isHere = searched.every((unit, index) => {
      const other = there[first + index];
      return other === unit || (isEnding(other) && isEnding(unit));
    });
    if (!isHere) return [];
    const from = there.slice(0, first).join("").length;
    const to = from + there.slice(first, first + searched.length).join("").length;
    return [{ from, to, row: -1 }];
  });
}

function findSpans(text: string, oldText: string, way: Way): Found[] {
  if (way === "exact") return findExactly(text, oldText);
  if (way === "endings") return findWithAnyEnding(text, oldText);
  return findRows(text, rowsOf(oldText.replace(/^\uFEFF/, ""), way), way);
}

/** E14 to E16: tries every window of lines. */
function findRows(text: string, wanted: Row[], way: Way): Found[] {
  const mark = text.startsWith("\uFEFF") ? 1 : 0;
  const rows = rowsOf(text.slice(mark), way);
  const spans: Found[] = [];
  for (let row = 0; row + wanted.length <= rows.length; row += 1) {
    const window = rows.slice(row, row + wanted.length);
    if (!window.every((line, index) => sameRow(line, wanted[index] ?? line, way))) continue;
    const from = mark + written(rows.slice(0, row)).length;
    spans.push({ from, to: from + written(window).length, row });
  }
  return spans;
}

function written(rows: Row[]): string {
  return rows.map(({ indent, body, trail, ending }) => indent + body + trail + ending).join("");
}

/** E19: whether the edit intends to change line endings. */
function changesEndings({ oldText, newText }: ReferenceEdit): boolean {
  const [before, after] = [kindOf(oldText), kindOf(newText)];
  return before !== undefined && after !== undefined && before !== after;
}

export function referenceEdit(text: string, edit: ReferenceEdit): ReferenceOutcome {
  if (edit.oldText === "") return { kind: "not-found" };
  const withoutMark = (value: string) => value.replace(/^\uFEFF/, "");
  const target = majority(text);
  const isAdapted = kindOf(edit.newText) !== undefined && !changesEndings(edit) && target !== undefined;
  const newText = isAdapted ? edit.newText.replace(/\r?\n/g, target) : edit.newText;
  const isBlank = rowsOf(withoutMark(edit.oldText), "lookalikes").every(({ body }) => body === "");
  for (const way of ["exact", "endings", "trailing", "indentation", "lookalikes"] as const) {
    if (way !== "exact" && changesEndings(edit)) continue;
    const isByLines = way !== "exact" && way !== "endings";
    if (isByLines && isBlank) continue;
    const wanted = rowsOf(withoutMark(edit.oldText), way);
    const spans = findSpans(text, edit.oldText, way);
    if (spans.length === 0) continue;
    if (spans.length > 1 && !edit.replaceAll) return { kind: "ambiguous", way, count: spans.length };
    const write = (span: Found) =>
      isByLines ? splice(text, span, wanted, rowsOf(withoutMark(newText), way), { way, edit }) : newText;
    return { kind: "edited", way, ...replaceSpans(text, spans, write) };
  }
  return { kind: "not-found" };
}

function replaceSpans(text: string, spans: Found[], write: (span: Found) => string) {
  let result = "";
  let at = 0;
  let replacements = 0;
  for (const span of spans) {
    if (span.from < at) continue;
    result += text.slice(at, span.from) + write(span);
    at = span.to;
    replacements += 1;
  }
  return { text: result + text.slice(at), replacements };
}

/** E21 to E29 for one match. */
function splice(
  text: string,
  span: Found,
  wanted: Row[],
  rows: Row[],
  { way, edit }: { way: Way; edit: ReferenceEdit },
): string {
  const file = rowsOf(text.replace(/^\uFEFF/, ""), way);
  const window = file.slice(span.row, span.row + wanted.length);
  const patterns = pair(wanted, rows);
  const output = rows.map((row, index): Row => {
    const { at, isInserted } = patterns[index] ?? { at: 0, isInserted: true };
    const [model, found] = [wanted[at] ?? row, window[at] ?? row];
    const preservesEnding = kindOf(edit.newText) === undefined && !isInserted && row.ending === model.ending;
    const ending = preservesEnding && found.ending !== "" ? found.ending : row.ending;
    if (row.body === "") return { ...row, ending };
    const indent = indentFor({ row, model, found, isInserted }, { wanted, rows, window, file });
    if (isInserted) return { ...row, indent, ending };
    const trail = row.trail === model.trail ? found.trail : row.trail;
    return { indent, body: keepLookalikes(row.body, model.body, found.body), trail, ending };
  });
  const last = output.at(-1);
  if (last) last.ending = window.at(-1)?.ending ?? "";
  return written(output);
}

/** E21 and E26: for each new line, the old line that is its model. */
function pair(wanted: Row[], rows: Row[]): { at: number; isInserted: boolean }[] {
  const old = wanted.map(({ body }) => body);
  const fresh = rows.map(({ body }) => body);
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < fresh.length - head &&
    old[old.length - tail - 1] === fresh[fresh.length - tail - 1]
  ) {
    tail += 1;
  }
  return rows.map((row, index) => {
    if (index < head) return { at: index, isInserted: false };
    if (index >= rows.length - tail) return { at: index - rows.length + wanted.length, isInserted: false };
    const oldMiddle = wanted.length - head - tail;
    if (index - head < oldMiddle) return { at: index, isInserted: false };
    const firstOfLast = wanted.length - tail;
    const lastOfFirst = head - 1;
    const candidates = [
      tail > 0 && rows[rows.length - tail]?.indent === row.indent ? firstOfLast : undefined,
      head > 0 && rows[lastOfFirst]?.indent === row.indent ? lastOfFirst : undefined,
      tail > 0 ? firstOfLast : undefined,
      head > 0 ? lastOfFirst : undefined,
      wanted.length - 1,
    ];
    return { at: candidates.find((candidate) => candidate !== undefined) ?? 0, isInserted: true };
  });
}

type Lines = { wanted: Row[]; rows: Row[]; window: Row[]; file: Row[] };
type Writing = { row: Row; model: Row; found: Row; isInserted: boolean };

/** E22 to E25. */
function indentFor({ row, model, found, isInserted }: Writing, lines: Lines): string {
  const { wanted, rows, window } = lines;
  if (row.indent === model.indent) return found.indent;
  const isKnown = wanted.every((line, index) => line.body === "" || line.indent === window[index]?.indent);
  if (isKnown) return row.indent;
  const own = unitOf([...wanted, ...rows]);
  const theirs = unitOfFile(lines, own);
  const levels = [level(found.indent, theirs), level(row.indent, own), level(model.indent, own)];
  const [base = NaN, plus = NaN, minus = NaN] = levels;
  const wantedLevel = base + plus - minus;
  if (theirs !== undefined && wantedLevel >= 0) return theirs.repeat(wantedLevel);
  return isInserted ? found.indent : row.indent;
}

function unitOf(rows: Row[]): string | undefined {
  const indents = rows.filter(({ body, indent }) => body !== "" && indent !== "").map(({ indent }) => indent);
  const all = indents.join("");
  if (all === "") return undefined;
  if (/^\t+$/.test(all)) return "\t";
  if (!/^ +$/.test(all)) return undefined;
  let size = Math.min(...indents.map(({ length }) => length));
  while (!indents.every(({ length }) => length % size === 0)) size -= 1;
  return " ".repeat(size);
}

function unitOfFile({ window, file }: Lines, callers: string | undefined): string | undefined {
  const indents = window.filter(({ body }) => body !== "").map(({ indent }) => indent);
  if (indents.every((indent) => indent === "")) return callers;
  const unit = unitOf(window);
  if (unit === undefined || unit === "\t" || new Set(indents).size > 1) return unit;
  const step = commonestStep(file);
  return step !== undefined && unit.length % step === 0 ? " ".repeat(step) : unit;
}

function commonestStep(file: Row[]): number | undefined {
  const widths = file
    .filter(({ body, indent }) => body !== "" && /^ *$/.test(indent))
    .map((row) => row.indent.length);
  const steps = widths.map((width, index) => width - (widths[index - 1] ?? width)).filter((step) => step > 0);
  const occurrences = (step: number) => steps.filter((other) => other === step).length;
  return steps.sort((one, other) => occurrences(other) - occurrences(one) || one - other)[0];
}

/** NaN when it is not a whole number of levels. */
function level(indent: string, unit: string | undefined): number {
  if (unit === undefined) return NaN;
  const count = indent.length / unit.length;
  return Number.isInteger(count) && unit.repeat(count) === indent ? count : NaN;
}

/** E27. */
function keepLookalikes(body: string, model: string, found: string): string {
  let head = 0;
  while (head < body.length && head < model.length && body[head] === model[head]) head += 1;
  let tail = 0;
  while (
    tail < body.length - head &&
    tail < model.length - head &&
    body[body.length - tail - 1] === model[model.length - tail - 1]
  ) {
    tail += 1;
  }
  return (
    found.slice(0, head) +
    body.slice(head, body.length - tail) +
    found.slice(found.length - tail, found.length)
  );
}
