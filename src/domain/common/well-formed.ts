/** Text that every encoding can carry: PostgreSQL's jsonb, UTF-8 and vendors refuse half of a surrogate pair. Pure. */

// With `u`, `\p{Surrogate}` is only a half that has lost the other one.
const LONE_SURROGATE = /\p{Surrogate}/u;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** `text` with U+FFFD in place of each lone surrogate, as the database would keep it; the same string when there is none. */
export function wellFormed(text: string): string {
  return LONE_SURROGATE.test(text) ? text.replace(LONE_SURROGATES, "\uFFFD") : text;
}

/** Whether `text` ends with the first half of a pair, whose second half may be in the next piece of it. */
export function endsInMidPair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
