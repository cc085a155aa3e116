/** Sanitizes text of users and workspaces for the system prompt. Pure and idempotent. */

/**
 * Invisible characters, which could hide text from a reader: soft hyphen, joiners, direction marks, separators of other
 * scripts, byte order mark. The non-joiner U+200C stays: Persian is spelled with it.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- a set of single code points, joiners among them
  /[\u00AD\u034F\u061C\u180E\u200B\u200D-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\uFFF9-\uFFFB]/gu;

/** Normalizes line ends, and removes invisible characters, trailing spaces, and all but one of successive blank lines. */
export function sanitizePrompt(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(INVISIBLE, "")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Blocks of the system prompt with text of users and workspaces. */
type PromptBlock = "workspace-context" | "available-skills" | "user-instructions";

const BLOCK_TAG = /<(?=[\s/]*(?:workspace-context|available-skills|user-instructions))/gi;

/** Wraps `text` in the tags of `block`. Block tags within it are escaped: no text can end its own block. */
export function promptBlock(block: PromptBlock, text: string): string {
  return `<${block}>\n${text.replace(BLOCK_TAG, "&lt;")}\n</${block}>`;
}
