/** Replacement text for a match of whole lines, in the file's own indentation and line endings. Pure. */
import type { Line } from "./lines.js";
import { indenter, type Indentation, type Pattern } from "./splice-indent.js";

/** `isOneEnding`: the new text's line endings are all of one kind, and were converted to the file's already. */
export type LineMatch = Indentation & { isOneEnding: boolean };

/** The replacement text; every line of the new text except the last has an ending. */
export function spliceLines(match: LineMatch): string {
  const { replacement, wanted, window } = match;
  const ends = equalEnds(wanted, replacement);
  const indent = indenter(match);
  const lines = replacement.map((line, index) => {
    const { index: at, isInserted } = patternOf(index, match, ends);
    const pattern = {
      line,
      wanted: wanted[at] ?? line,
      found: window[at] ?? line,
      isInserted,
    };
    const isLast = index === replacement.length - 1;
    const ending = isLast ? (window.at(-1)?.ending ?? "") : endingFor(pattern, match.isOneEnding);
    return contentOf(pattern, indent) + ending;
  });
  return lines.join("");
}

type EqualEnds = { first: number; last: number };

/** The number of lines at the beginning, and at the end, whose body is the same in old and new text. */
function equalEnds(wanted: readonly Line[], replacement: readonly Line[]): EqualEnds {
  const shorter = Math.min(wanted.length, replacement.length);
  let first = 0;
  while (first < shorter && wanted[first]?.body === replacement[first]?.body) first += 1;
  let last = 0;
  while (last < shorter - first && wanted.at(-1 - last)?.body === replacement.at(-1 - last)?.body) last += 1;
  return { first, last };
}

/** The line of the old text whose indentation and ending the new text's line `index` follows. */
function patternOf(
  index: number,
  { wanted, replacement }: LineMatch,
  { first, last }: EqualEnds,
): { index: number; isInserted: boolean } {
  const fromEnd = replacement.length - index;
  if (fromEnd <= last) return { index: wanted.length - fromEnd, isInserted: false };
  if (index < wanted.length - last) return { index, isInserted: false };
  const lead = replacement[index]?.lead;
  const after = last > 0 && { index: wanted.length - last, isInserted: true };
  const before = first > 0 && { index: first - 1, isInserted: true };
  if (after && replacement.at(-last)?.lead === lead) return after;
  if (before && replacement[first - 1]?.lead === lead) return before;
  return after || before || { index: wanted.length - 1, isInserted: true };
}

function contentOf(pattern: Pattern, indent: (pattern: Pattern) => string): string {
  const { line, wanted, found, isInserted } = pattern;
  if (line.body === "") return line.lead;
  if (isInserted) return indent(pattern) + line.body + line.trail;
  const trail = line.trail === wanted.trail ? found.trail : line.trail;
  return indent(pattern) + mergeBody(pattern) + trail;
}

/**
 * The new body, with the file's own characters where old and new text are equal at both ends. The file's body and the
 * wanted one have the same length: they differ at most in look-alikes.
 */
function mergeBody({ line: { body }, wanted: { body: wanted }, found: { body: found } }: Pattern): string {
  const shorter = Math.min(body.length, wanted.length);
  let head = 0;
  while (head < shorter && body[head] === wanted[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && body.at(-1 - tail) === wanted.at(-1 - tail)) tail += 1;
  return found.slice(0, head) + body.slice(head, body.length - tail) + found.slice(found.length - tail);
}

function endingFor({ line, wanted, found, isInserted }: Pattern, isOneEnding: boolean): string {
  const isAgreed = !isOneEnding && !isInserted && line.ending === wanted.ending;
  return isAgreed && found.ending !== "" ? found.ending : line.ending;
}
