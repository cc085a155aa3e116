/** Chat titles: the default taken from the first message, and the rules for titles that a model proposes. Pure. */
import type { MessagePart } from "./message-parts.js";

const MAX_WORDS = 6;
const MAX_CHARACTERS = 80;

/** The first words of the first message; "New chat" when it has no words. */
export function titleFrom(parts: MessagePart[]): string {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  // PostgreSQL cannot store U+0000 in a text.
  const words = text.split(/[\s\u0000]+/).filter((word) => word !== "");
  if (words.length === 0) return "New chat";
  const title = words.slice(0, MAX_WORDS).join(" ") + (words.length > MAX_WORDS ? "…" : "");
  return shortened(title);
}

function shortened(title: string): string {
  const characters = Array.from(title);
  return characters.length <= MAX_CHARACTERS ? title : characters.slice(0, MAX_CHARACTERS - 1).join("") + "…";
}

/** Bounds of a proposed title in words: fewer say nothing, more are a sentence. */
const MIN_PROPOSED_WORDS = 2;
const MAX_PROPOSED_WORDS = 8;
/** The same for scripts without spaces between words, in characters. */
const MIN_UNSPACED_CHARACTERS = 2;
const MAX_UNSPACED_CHARACTERS = 40;

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** What models wrap titles in: quotes, Markdown, a heading, the word "Title:". */
const WRAPPING_START = /^(?:[\s"'`*_“”„‘’«»]+|#{1,6}\s+|title\s*:\s*)/i;
const WRAPPING_END = /[\s"'`*_“”„‘’«»]+$/;
/** A single full stop, not an ellipsis. */
const FULL_STOP = /(?<![.。])[.。]$/;

/**
 * Normalizes a model's text to a title: one line, without quotes, Markdown or a full stop, at most 80 characters.
 * Empty when nothing is left. Idempotent.
 */
export function normaliseTitle(text: string): string {
  // PostgreSQL cannot store U+0000; the other control characters are invisible.
  let title = text.replace(/[\s\u0000-\u001f\u007f]+/g, " ").trim();
  for (let before = ""; before !== title;) {
    before = title;
    title = title.replace(WRAPPING_START, "").replace(WRAPPING_END, "").replace(FULL_STOP, "");
  }
  return shortened(title);
}

/** Whether a normalized title may be set automatically: two to eight words. */
export function isGoodTitle(title: string): boolean {
  if (UNSPACED.test(title)) {
    const { length } = Array.from(title);
    return length >= MIN_UNSPACED_CHARACTERS && length <= MAX_UNSPACED_CHARACTERS;
  }
  const words = title.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  return words >= MIN_PROPOSED_WORDS && words <= MAX_PROPOSED_WORDS;
}
