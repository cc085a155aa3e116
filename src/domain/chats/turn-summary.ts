/** One-line summary of a turn, for lists and notifications. Pure; no model call. */
import type { MessagePart } from "./message-parts.js";

export const MAX_SUMMARY_CHARACTERS = 100;
/** Only the beginning of a text is read: real Markdown around a hundred characters is never longer. */
const READ_CHARACTERS = 4_000;

/** The first line of an assistant's message that has words, without Markdown; empty when there is none. */
export function turnSummary(parts: readonly MessagePart[]): string {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const read = withoutBlocks(text.trimStart().slice(0, READ_CHARACTERS));
  for (const line of read.split("\n")) {
    const plain = plainLine(line);
    if (/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(plain)) return shortened(plain);
  }
  return "";
}

/** Removes code blocks, closed or not, and comments: they mean nothing in one line. */
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

/** Truncates at a word boundary where the second half has one, and never within a character. */
function shortened(line: string): string {
  const characters = Array.from(line);
  if (characters.length <= MAX_SUMMARY_CHARACTERS) return line;
  const start = characters.slice(0, MAX_SUMMARY_CHARACTERS - 1).join("");
  const isWhole = characters[MAX_SUMMARY_CHARACTERS - 1] === " ";
  const end = isWhole ? start.length : start.lastIndexOf(" ");
  const cut = end >= start.length / 2 ? start.slice(0, end) : start;
  return `${cut.replace(/[\s,;:.–—-]+$/, "")}…`;
}
