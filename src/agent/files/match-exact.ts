/** Search for a text, exactly or up to its line endings. Pure. */
import { findText } from "./match-runs.js";

/** A range of the file's text: `text.slice(start, end)`. */
export type Span = { start: number; end: number };

/** Skips matches that begin inside a `\r\n`: a replacement would leave half of it behind. */
export function findExact(text: string, wanted: string, found: (span: Span) => void): void {
  const mayBeginInside = wanted.startsWith("\n");
  findText(text, wanted, (start) => {
    if (mayBeginInside && text.charAt(start - 1) === "\r") return;
    found({ start, end: start + wanted.length });
  });
}

/** Treats `\n` and `\r\n` as equal. */
export function findWithAnyEnding(text: string, wanted: string, found: (span: Span) => void): void {
  const plainWanted = wanted.replaceAll("\r\n", "\n");
  const startOf = originalOffsets(text);
  const endOf = originalOffsets(text);
  findText(text.replaceAll("\r\n", "\n"), plainWanted, (start) => {
    found({ start: startOf(start), end: endOf(start + plainWanted.length) });
  });
}

/** Maps offsets in the text with `\n` endings, which must ascend, to offsets in the text itself. */
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
