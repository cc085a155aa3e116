/** When a service that refuses wants to be asked again, as RFC 9110 has it. */

const SECOND_MS = 1_000;

/**
 * Milliseconds from `nowMs` on that a `retry-after` header asks for, in seconds or by a date; negative for a date in the
 * past. Undefined when there is none or it makes no sense.
 */
export function readRetryAfter(text: string | null | undefined, nowMs: number): number | undefined {
  const seconds = parsePositive(text);
  if (seconds !== undefined) return Math.ceil(seconds * SECOND_MS);
  // Date.parse accepts "-5"; only what looks like a date is one.
  if (!text || !/[a-z]/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - nowMs;
}

/** A finite number, 0 included, as a header says it; undefined for everything else. */
export function parsePositive(text: string | null | undefined): number | undefined {
  if (!text || text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}
