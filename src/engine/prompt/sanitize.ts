/** Makes text that people wrote fit for the system prompt. Pure, and doing it twice changes nothing more. */

/**
 * Characters without a shape of their own, which could hide words from people: soft hyphen, joiners, direction
 * marks, separators of other scripts, byte order mark. The non-joiner U+200C stays, Persian is spelled with it.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- a set of single code points, joiners among them
  /[\u00AD\u034F\u061C\u180E\u200B\u200D-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\uFFF9-\uFFFB]/gu;

/** One kind of line end, nothing invisible, no space at the ends of lines or of the whole, one blank line at most. */
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

/** The blocks of the system prompt that hold other people's words. */
export type PromptBlock = "workspace-context" | "available-skills" | "user-instructions";

const BLOCK_TAG = /<(?=[\s/]*(?:workspace-context|available-skills|user-instructions))/gi;

/** `text` between the tags of `block`. Tags of blocks within it are disarmed: no text can end its own block. */
export function promptBlock(block: PromptBlock, text: string): string {
  return `<${block}>\n${text.replace(BLOCK_TAG, "&lt;")}\n</${block}>`;
}
