/** Well-formed Unicode: PostgreSQL's jsonb, UTF-8 and vendors refuse lone surrogates. Pure. */

// With `u`, `\p{Surrogate}` matches only lone surrogates.
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** `text` with U+FFFD for each lone surrogate, as the database would store it; the same string when there is none. */
export function wellFormed(text: string): string {
  return LONE_SURROGATE.test(text) ? text.replace(LONE_SURROGATES, "\uFFFD") : text;
}

/** Whether `text` ends with the first half of a surrogate pair, whose second half may follow in the next chunk. */
export function endsInMidPair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
