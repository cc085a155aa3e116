/** Excerpt of a matching line: whole when it is short, otherwise the part around the match. Pure. */
import { cutText } from "../../lib/text/utf8.js";

/** Enough for a line of code; minified files have lines of megabytes. */
const MAX_SHOWN_BYTES = 400;
/** Of a long line, the characters shown before the match. */
const BEFORE_MATCH_CHARACTERS = 100;
const LEFT_OUT = "...";

/** `matchStart` is where the match begins in `line`. */
export function showFoundLine(line: string, matchStart: number): string {
  if (Buffer.byteLength(line) <= MAX_SHOWN_BYTES) return line;
  const start = Math.max(0, matchStart - BEFORE_MATCH_CHARACTERS);
  const rest = line.slice(isSecondHalf(line.charCodeAt(start)) ? start + 1 : start);
  const shown = cutText(rest, MAX_SHOWN_BYTES);
  return `${start === 0 ? "" : LEFT_OUT}${shown}${shown.length < rest.length ? LEFT_OUT : ""}`;
}

function isSecondHalf(codeUnit: number): boolean {
  return codeUnit >= 0xdc00 && codeUnit <= 0xdfff;
}
