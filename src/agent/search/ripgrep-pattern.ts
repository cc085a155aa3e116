/** Says a pattern in the words of ripgrep, whose dialect is close to RE2's, such that it means the same. Pure. */

/** What both dialects have, but ripgrep with all of Unicode where RE2 means ASCII. */
const CLASSES: Readonly<Record<string, { alone: string; inBrackets: string }>> = {
  d: { alone: "[0-9]", inBrackets: "0-9" },
  D: { alone: "[^0-9]", inBrackets: "[^0-9]" },
  w: { alone: "[0-9A-Za-z_]", inBrackets: "0-9A-Za-z_" },
  W: { alone: "[^0-9A-Za-z_]", inBrackets: "[^0-9A-Za-z_]" },
  s: { alone: "[\\t\\n\\f\\r ]", inBrackets: "\\t\\n\\f\\r " },
  S: { alone: "[^\\t\\n\\f\\r ]", inBrackets: "[^\\t\\n\\f\\r ]" },
};
const WORD_EDGES: Readonly<Record<string, string>> = { b: "(?-u:\\b)", B: "(?-u:\\B)" };
/** Mean the same in both. Octal numbers and quoting are left to RE2. */
const SAME_ESCAPES = "afnrtvxpP";
/** Characters that mean something in ripgrep's brackets, but not in RE2's. */
const ONLY_THERE = "&~[";

const PIECE =
  /(?<coded>\\[xpP]\{[^}]*\})|\\(?<escaped>.)|(?<named>\[:\^?\w+:\])|(?<counted>\{\d+(?:,\d*)?\})|(?<plain>.)/gsu;
type Piece = { coded?: string; escaped?: string; named?: string; counted?: string; plain?: string };

/** In brackets a `]` means itself at the beginning, also after a `^`. */
type Place = "outside" | "after [" | "after [^" | "in brackets";

/**
 * The same pattern for ripgrep, or undefined when it cannot be said there. `pattern` is valid RE2.
 * What ripgrep refuses after all does no harm: nobody takes its refusal for "no match".
 */
export function toRipgrepPattern(pattern: string): string | undefined {
  if (pattern.includes("\\Q")) return undefined;
  let translated = "";
  let place: Place = "outside";
  for (const { groups = {} } of pattern.matchAll(PIECE)) {
    const piece = groups as Piece;
    const text = translatePiece(piece, place);
    // Two of them in brackets are a difference of sets there.
    if (text === undefined || (place !== "outside" && text === "-" && translated.endsWith("-"))) {
      return undefined;
    }
    translated += text;
    place = placeAfter(place, piece);
  }
  return translated;
}

function placeAfter(place: Place, { plain }: Piece): Place {
  if (place === "outside") return plain === "[" ? "after [" : "outside";
  if (place === "after [" && plain === "^") return "after [^";
  return place === "in brackets" && plain === "]" ? "outside" : "in brackets";
}

function translatePiece(piece: Piece, place: Place): string | undefined {
  const { coded, escaped, named, counted, plain = "" } = piece;
  const isInBrackets = place !== "outside";
  if (coded !== undefined) return coded;
  if (named !== undefined) return isInBrackets ? named : undefined;
  if (counted !== undefined) return isInBrackets ? counted.replaceAll(/[{}]/g, "\\$&") : counted;
  if (escaped !== undefined) return translateEscape(escaped, isInBrackets);
  if (!isInBrackets) return plain === "{" || plain === "}" ? `\\${plain}` : plain;
  const isItself = ONLY_THERE.includes(plain) || (plain === "]" && place !== "in brackets");
  return isItself ? `\\${plain}` : plain;
}

function translateEscape(escaped: string, isInBrackets: boolean): string | undefined {
  const known = CLASSES[escaped];
  if (known !== undefined) return isInBrackets ? known.inBrackets : known.alone;
  if (!isInBrackets && WORD_EDGES[escaped] !== undefined) return WORD_EDGES[escaped];
  if (SAME_ESCAPES.includes(escaped)) return `\\${escaped}`;
  if (/[0-9A-Za-z]/.test(escaped)) return undefined;
  return /[\\.+*?()|[\]{}^$&~-]/.test(escaped) ? `\\${escaped}` : escaped;
}
