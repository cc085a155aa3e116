/** What a turn came to, in one line: for lists and notifications. Pure; no model is asked. */
import type { MessagePart } from "./message-parts.js";

export const MAX_SUMMARY_CHARACTERS = 100;
/** The beginning of a text that is looked at: Markdown around a hundred characters is never longer in earnest. */
const READ_CHARACTERS = 4_000;

/** The first line that says something in an assistant's message, without Markdown; empty when it said nothing. */
export function turnSummary(parts: readonly MessagePart[]): string {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const read = withoutBlocks(text.trimStart().slice(0, READ_CHARACTERS));
  for (const line of read.split("\n")) {
    const plain = plainLine(line);
    if (/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(plain)) return shortened(plain);
  }
  return "";
}

/** Code blocks say nothing in one line, closed or not; nor do comments. */
function withoutBlocks(text: string): string {
  return text
    .replace(/^[ \t]*(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t]*\1[`~]*[ \t]*$|(?![\s\S]))/gm, "\n")
    .replace(/<!--[\s\S]*?(?:-->|$)/g, " ");
}

function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?/, "")
    .replace(/!?\[([^\]]*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+"[^"]*")?\)/g, "$1")
    .replace(/(`+)(.+?)\1/g, "$2")
    .replace(/(?<!\\)(\*\*\*|\*\*|~~)(?=\S)(.+?)(?<=[^\s\\])\1/g, "$2")
    .replace(/(?<![\w\\])__(?=\S)(.+?)(?<=[^\s\\])__(?=[\s,;:!?)]|$)/g, "$1")
    .replace(/(?<![\p{L}\p{N}*_\\])([*_])(?=\S)([^*_]+?)(?<=[^\s\\])\1(?![\p{L}\p{N}*_])/gu, "$2")
    .replace(/\\([\\`*_{}[\]()#+\-.!~>|])/g, "$1")
    .replace(/[\s\u0000]+/g, " ")
    .trim();
}

/** Cut behind a word where there is one in the second half; no character is cut in two. */
function shortened(line: string): string {
  const characters = Array.from(line);
  if (characters.length <= MAX_SUMMARY_CHARACTERS) return line;
  const kept = characters.slice(0, MAX_SUMMARY_CHARACTERS - 1).join("");
  const isWhole = characters[MAX_SUMMARY_CHARACTERS - 1] === " ";
  const end = isWhole ? kept.length : kept.lastIndexOf(" ");
  const cut = end >= kept.length / 2 ? kept.slice(0, end) : kept;
  return `${cut.replace(/[\s,;:.–—-]+$/, "")}…`;
}
