/** Titles: the one that a chat has until somebody, or a model, gives it a better one; and what a model's must be like. Pure. */
import type { MessagePart } from "./message-parts.js";

const MAX_WORDS = 6;
const MAX_CHARACTERS = 80;

/** The first words of the first message; "New chat" when it has no words. */
export function titleFrom(parts: MessagePart[]): string {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join(" ");
  // PostgreSQL keeps no zero in a text.
  const words = text.split(/[\s\u0000]+/).filter((word) => word !== "");
  if (words.length === 0) return "New chat";
  const title = words.slice(0, MAX_WORDS).join(" ") + (words.length > MAX_WORDS ? "…" : "");
  return shortened(title);
}

function shortened(title: string): string {
  const characters = Array.from(title);
  return characters.length <= MAX_CHARACTERS ? title : characters.slice(0, MAX_CHARACTERS - 1).join("") + "…";
}

/** Words that a model's title may have: fewer say nothing, more are a sentence. */
export const FEWEST_PROPOSED_WORDS = 2;
export const MOST_PROPOSED_WORDS = 8;
/** The same for scripts without spaces between words, in characters. */
const FEWEST_UNSPACED_CHARACTERS = 2;
const MOST_UNSPACED_CHARACTERS = 40;

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** What models put around a title: quotes, Markdown's marks, a heading, the word "Title:". */
const WRAPPING_START = /^(?:[\s"'`*_“”„‘’«»]+|#{1,6}\s+|title\s*:\s*)/i;
const WRAPPING_END = /[\s"'`*_“”„‘’«»]+$/;
/** One full stop, not the dots of "and so on…". */
const FULL_STOP = /(?<![.。])[.。]$/;

/**
 * A model's words as a title: one line, without quotes, Markdown or a full stop around it, at most 80 characters.
 * Empty when nothing is left. Doing it twice changes nothing.
 */
export function normaliseTitle(text: string): string {
  // PostgreSQL keeps no zero, and nobody sees the other control characters.
  let title = text.replace(/[\s\u0000-\u001f\u007f]+/g, " ").trim();
  for (let before = ""; before !== title;) {
    before = title;
    title = title.replace(WRAPPING_START, "").replace(WRAPPING_END, "").replace(FULL_STOP, "");
  }
  return shortened(title);
}

/** Whether a normalised title is one that may be given unasked: two to eight words. */
export function isGoodTitle(title: string): boolean {
  if (UNSPACED.test(title)) {
    const { length } = Array.from(title);
    return length >= FEWEST_UNSPACED_CHARACTERS && length <= MOST_UNSPACED_CHARACTERS;
  }
  const words = title.split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  return words >= FEWEST_PROPOSED_WORDS && words <= MOST_PROPOSED_WORDS;
}
