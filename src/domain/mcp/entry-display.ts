/** Shows entries of `.mcp.json` to the person who may allow them: truthfully, whatever characters they contain. Pure. */
import type { WorkspaceMcpEntry } from "./workspace-entry.js";

/**
 * Characters that have no glyph of their own, or that move or hide others: controls, formats (bidirectional overrides,
 * zero-width), line and paragraph separators, spaces other than the ASCII one, blank letters, unassigned ones.
 */
const HIDDEN =
  /[\p{C}\p{Zl}\p{Zp}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\u2800]/gu;
/** Needs no quotes in a shell. Variables that the agent expands stay readable. */
const PLAIN_WORD = /^(?:[A-Za-z0-9_@%+=:,./-]|\$\{\w+\})+$/;

/** The text with every hidden character written as `\u{…}`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, escaped);
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Variables, program and arguments as one line for a POSIX shell; null for a remote server. */
export function commandLineOf(entry: WorkspaceMcpEntry): string | null {
  if (entry.transport !== "stdio") return null;
  const variables = Object.entries(entry.env).map(([name, value]) => `${quoted(name)}=${quoted(value)}`);
  return [...variables, ...[entry.command, ...entry.args].map(quoted)].join(" ");
}

/** The URL of a remote server, with its host as it is looked up; null for a program. */
export function urlOf(entry: WorkspaceMcpEntry): string | null {
  if (entry.transport === "stdio") return null;
  const { url } = entry;
  if (/^[\x21-\x7e]*$/.test(url)) return url;
  // Parsing would change variables, too, so that these URLs show every unusual character as it is.
  return url.includes("$") || !URL.canParse(url) ? url.replace(/[^\x21-\x7e]/gu, escaped) : new URL(url).href;
}

/** The headers of a remote server, one line each. */
export function headerLinesOf(entry: WorkspaceMcpEntry): string[] {
  if (entry.transport === "stdio") return [];
  return Object.entries(entry.headers).map(([name, value]) => visibleText(`${name}: ${value}`));
}

/** What the audit log records: without the values of variables, of headers and of the URL's query, often secrets. */
export function auditedEntry(entry: WorkspaceMcpEntry): Record<string, unknown> {
  if (entry.transport === "stdio") {
    const program = commandLineOf({ ...entry, env: {} });
    return { command: program, variables: Object.keys(entry.env).map(visibleText) };
  }
  const url = (urlOf(entry) ?? "").replace(/[?#].*$/, "").replace(/\/\/[^/@]*@/, "//");
  return { url, headers: Object.keys(entry.headers).map(visibleText) };
}

function quoted(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  if (word.search(HIDDEN) === -1) return `'${word.replaceAll("'", `'\\''`)}'`;
  // What is hidden has an escape in this form of quotes, and a literal backslash one of its own.
  const text = word.replace(/['\\]/g, (character) => `\\${character}`).replace(HIDDEN, ansiEscape);
  return `$'${text}'`;
}

function ansiEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return code <= 0xffff
    ? `\\u${code.toString(16).padStart(4, "0")}`
    : `\\U${code.toString(16).padStart(8, "0")}`;
}
