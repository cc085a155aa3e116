/** Parsing of `Retry-After` (RFC 9110). */

const SECOND_MS = 1_000;

/**
 * Milliseconds from `nowMs` that the header asks to wait, given in seconds or as a date; negative for a date in the past.
 * Undefined when it is absent or invalid.
 */
export function readRetryAfter(text: string | null | undefined, nowMs: number): number | undefined {
  const seconds = parsePositive(text);
  if (seconds !== undefined) return Math.ceil(seconds * SECOND_MS);
  // Date.parse also accepts "-5", which is no date.
  if (!text || !/[a-z]/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - nowMs;
}

/** A finite number of at least 0 from a header; undefined for anything else. */
export function parsePositive(text: string | null | undefined): number | undefined {
  if (!text || text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}
