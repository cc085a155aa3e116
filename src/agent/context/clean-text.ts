/** Makes a file's text fit for a prompt: nothing in it that a person who reads the file would not see. Pure. */

/**
 * Characters without a shape of their own (soft hyphens, joiners, direction marks, fillers, variation selectors):
 * they can hide words from the person, not from the model. The non-joiner U+200C stays, Persian is spelled with it.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- a set of single code points, joiners among them
  /[\u00AD\u034F\u061C\u070F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200D-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8]/gu;

/** Line ends become `\n`; invisible characters, HTML comments and the space around the whole are taken away. */
export function cleanText(text: string): string {
  const visible = text.replace(/\r\n?/g, "\n").replace(INVISIBLE, "");
  return withoutComments(visible).trim();
}

const OPENING = "<!--";
const CLOSING = "-->";

/** A comment that never closes stays. Searched for by hand: a pattern would take quadratic time on hostile text. */
function withoutComments(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(OPENING, from);
    const end = start === -1 ? -1 : text.indexOf(CLOSING, start + OPENING.length);
    if (end === -1) break;
    kept.push(text.slice(from, start));
    from = end + CLOSING.length;
  }
  kept.push(text.slice(from));
  return kept.join("");
}
