/** Cleans a file's text for a prompt: removes what is invisible to a human reader of the file. Pure. */

/**
 * Characters without a glyph of their own (soft hyphens, joiners, direction marks, fillers, variation selectors):
 * they can hide text from the user, but not from the model. The non-joiner U+200C stays: Persian needs it.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- a set of single code points, joiners among them
  /[\u00AD\u034F\u061C\u070F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200D-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8]/gu;

/** Normalizes line ends to `\n`; removes invisible characters, HTML comments, and leading and trailing space. */
export function cleanText(text: string): string {
  const visible = text.replace(/\r\n?/g, "\n").replace(INVISIBLE, "");
  return withoutComments(visible).trim();
}

const OPENING = "<!--";
const CLOSING = "-->";

/** An unclosed comment stays. No regular expression: it would take quadratic time on hostile text. */
function withoutComments(text: string): string {
  const visibleTexts: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(OPENING, from);
    const end = start === -1 ? -1 : text.indexOf(CLOSING, start + OPENING.length);
    if (end === -1) break;
    visibleTexts.push(text.slice(from, start));
    from = end + CLOSING.length;
  }
  visibleTexts.push(text.slice(from));
  return visibleTexts.join("");
}
