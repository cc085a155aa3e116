/** Lines of a text, split for edits into indentation, body, trailing space and line ending. Pure. */

/**
 * The line is the concatenation of all four. A blank line has its white space in `lead`; the last line may lack an
 * ending.
 */
export type Line = { lead: string; body: string; trail: string; ending: Ending | "" };
export type Ending = "\n" | "\r\n";

const BYTE_ORDER_MARK = "\uFEFF";

const LOOKALIKES: readonly [RegExp, string][] = [
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u2018-\u201B]/g, "'"],
  [/[\u201C-\u201F]/g, '"'],
  [/[\u00A0\u2002-\u200A\u202F\u205F\u3000]/g, " "],
];
const ANY_LOOKALIKE = /[\u00A0\u2002-\u200A\u2010-\u2015\u2018-\u201F\u202F\u205F\u2212\u3000]/;
const SPACE = 0x20;
const TAB = 0x09;
const FIRST_ODD_SPACE = 0xa0;
const ODD_SPACE = /[\u00A0\u2002-\u200A\u202F\u205F\u3000]/;

export function hasLookalike(text: string): boolean {
  return ANY_LOOKALIKE.test(text);
}

/** Replaces typographic dashes, quotes and spaces by ASCII ones, one for one. */
export function toPlain(text: string): string {
  if (!hasLookalike(text)) return text;
  return LOOKALIKES.reduce((plain, [pattern, ascii]) => plain.replace(pattern, ascii), text);
}

/** Start offset of each line; a newline at the end begins no line, a byte order mark belongs to none. */
export function lineStarts(text: string): number[] {
  const starts: number[] = [];
  let start = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  while (start < text.length) {
    starts.push(start);
    const newline = text.indexOf("\n", start);
    start = newline === -1 ? text.length : newline + 1;
  }
  return starts;
}

/** `areOddSpacesWhite`: typographic spaces count as white space, as after `toPlain`. */
export function parseLine(raw: string, areOddSpacesWhite: boolean): Line {
  const ending = endingOf(raw);
  const contentEnd = raw.length - ending.length;
  let bodyStart = 0;
  while (bodyStart < contentEnd && isWhite(raw, bodyStart, areOddSpacesWhite)) bodyStart += 1;
  let bodyEnd = contentEnd;
  while (bodyEnd > bodyStart && isWhite(raw, bodyEnd - 1, areOddSpacesWhite)) bodyEnd -= 1;
  return {
    lead: raw.slice(0, bodyStart),
    body: raw.slice(bodyStart, bodyEnd),
    trail: raw.slice(bodyEnd, contentEnd),
    ending,
  };
}

function isWhite(text: string, at: number, areOddSpacesWhite: boolean): boolean {
  const code = text.charCodeAt(at);
  if (code === SPACE || code === TAB) return true;
  return areOddSpacesWhite && code >= FIRST_ODD_SPACE && ODD_SPACE.test(text.charAt(at));
}

export function parseLines(text: string, areOddSpacesWhite: boolean): Line[] {
  const starts = lineStarts(text);
  return starts.map((start, index) => parseLine(text.slice(start, starts[index + 1]), areOddSpacesWhite));
}

function endingOf(raw: string): Line["ending"] {
  if (!raw.endsWith("\n")) return "";
  return raw.endsWith("\r\n") ? "\r\n" : "\n";
}

/** The number of line endings of each kind. */
function countEndings(text: string): { lf: number; crlf: number } {
  const counts = { lf: 0, crlf: 0 };
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (text.charAt(at - 1) === "\r") counts.crlf += 1;
    else counts.lf += 1;
  }
  return counts;
}

/** The line ending that all terminated lines share; undefined when there is none or more than one. */
export function sharedEnding(text: string): Ending | undefined {
  const { lf, crlf } = countEndings(text);
  if (lf > 0 === crlf > 0) return undefined;
  return crlf > 0 ? "\r\n" : "\n";
}

/** The more frequent line ending, LF when equal; undefined for a text without line endings. */
export function dominantEnding(text: string): Ending | undefined {
  const { lf, crlf } = countEndings(text);
  if (lf + crlf === 0) return undefined;
  return crlf > lf ? "\r\n" : "\n";
}

export function withEnding(text: string, ending: Ending): string {
  return text.replace(/\r?\n/g, ending);
}
