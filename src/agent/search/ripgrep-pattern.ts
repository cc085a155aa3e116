/** Translation of RE2 patterns into ripgrep's similar syntax. Pure. */

/** In both syntaxes, but ASCII in RE2 and Unicode in ripgrep. */
const CLASSES: Readonly<Record<string, { alone: string; inBrackets: string }>> = {
  d: { alone: "[0-9]", inBrackets: "0-9" },
  D: { alone: "[^0-9]", inBrackets: "[^0-9]" },
  w: { alone: "[0-9A-Za-z_]", inBrackets: "0-9A-Za-z_" },
  W: { alone: "[^0-9A-Za-z_]", inBrackets: "[^0-9A-Za-z_]" },
  s: { alone: "[\\t\\n\\f\\r ]", inBrackets: "\\t\\n\\f\\r " },
  S: { alone: "[^\\t\\n\\f\\r ]", inBrackets: "[^\\t\\n\\f\\r ]" },
};
const WORD_EDGES: Readonly<Record<string, string>> = { b: "(?-u:\\b)", B: "(?-u:\\B)" };
/** The same in both. Octal escapes and quoting are not translated. */
const SAME_ESCAPES = "afnrtvxpP";
/** Characters that are special in ripgrep's brackets, but not in RE2's. */
const SPECIAL_IN_RIPGREP = "&~[";

const TOKEN =
  /(?<coded>\\[xpP]\{[^}]*\})|\\(?<escaped>.)|(?<named>\[:\^?\w+:\])|(?<counted>\{\d+(?:,\d*)?\})|(?<plain>.)/gsu;
type Token = { coded?: string; escaped?: string; named?: string; counted?: string; plain?: string };

/** A `]` is literal at the beginning of brackets, also after a `^`. */
type Position = "outside" | "after [" | "after [^" | "in brackets";

/**
 * The equivalent pattern for ripgrep, or undefined when there is none. `pattern` is valid RE2. If ripgrep refuses the
 * result after all, the search runs without it.
 */
export function toRipgrepPattern(pattern: string): string | undefined {
  if (pattern.includes("\\Q")) return undefined;
  let translated = "";
  let position: Position = "outside";
  for (const { groups = {} } of pattern.matchAll(TOKEN)) {
    const token = groups as Token;
    const text = translateToken(token, position);
    // `--` in brackets is a set difference in ripgrep.
    if (text === undefined || (position !== "outside" && text === "-" && translated.endsWith("-"))) {
      return undefined;
    }
    translated += text;
    position = positionAfter(position, token);
  }
  return translated;
}

function positionAfter(position: Position, { plain }: Token): Position {
  if (position === "outside") return plain === "[" ? "after [" : "outside";
  if (position === "after [" && plain === "^") return "after [^";
  return position === "in brackets" && plain === "]" ? "outside" : "in brackets";
}

function translateToken(token: Token, position: Position): string | undefined {
  const { coded, escaped, named, counted, plain = "" } = token;
  const isInBrackets = position !== "outside";
  if (coded !== undefined) return coded;
  if (named !== undefined) return isInBrackets ? named : undefined;
  if (counted !== undefined) return isInBrackets ? counted.replaceAll(/[{}]/g, "\\$&") : counted;
  if (escaped !== undefined) return translateEscape(escaped, isInBrackets);
  if (!isInBrackets) return plain === "{" || plain === "}" ? `\\${plain}` : plain;
  const isItself = SPECIAL_IN_RIPGREP.includes(plain) || (plain === "]" && position !== "in brackets");
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
