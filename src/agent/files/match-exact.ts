/** Finds a text as it is, or as it is but for its line endings. Pure. */
import { findText } from "./match-runs.js";

/** A piece of the file: `text.slice(start, end)`. */
export type Span = { start: number; end: number };

/** No place begins inside a `\r\n`: what is put there would leave half of it behind. */
export function findExact(text: string, wanted: string, found: (place: Span) => void): void {
  const mayBeginInside = wanted.startsWith("\n");
  findText(text, wanted, (start) => {
    if (mayBeginInside && text.charAt(start - 1) === "\r") return;
    found({ start, end: start + wanted.length });
  });
}

/** `\n` and `\r\n` count as equal. */
export function findWithAnyEnding(text: string, wanted: string, found: (place: Span) => void): void {
  const plainWanted = wanted.replaceAll("\r\n", "\n");
  const startOf = originalOffsets(text);
  const endOf = originalOffsets(text);
  findText(text.replaceAll("\r\n", "\n"), plainWanted, (start) => {
    found({ start: startOf(start), end: endOf(start + plainWanted.length) });
  });
}

/** From offsets in a text with `\n` alone, asked for in ascending order, to those in the text itself. */
function originalOffsets(text: string): (plainOffset: number) => number {
  let removed = 0;
  let next = text.indexOf("\r\n");
  return (plainOffset) => {
    while (next !== -1 && next - removed < plainOffset) {
      removed += 1;
      next = text.indexOf("\r\n", next + 2);
    }
    return plainOffset + removed;
  };
}
