/** Size of a value as JSON, measured without serializing it: a long text that is referenced many times is in memory only once. */

/** Punctuation, and the longest number, `true` or `null`. */
const PLAIN_VALUE_BYTES = 24;
const QUOTES_AND_SEPARATORS_BYTES = 4;

/**
 * UTF-8 bytes of the value as JSON, exact but for its numbers. Counting stops as soon as it exceeds `limit`. Up to
 * `roughBelow` the result is only a lower bound, which is cheaper: each text counts one byte per character.
 */
export function jsonSize(value: unknown, limit: number, roughBelow = 0): number {
  const rough = measure(value, roughBelow, (text) => text.length);
  if (rough <= roughBelow) return rough;
  return measure(value, limit, (text, left) => (text.length > left ? text.length : exactBytes(text)));
}

function exactBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

/** Iterative, because a model may nest a tool's arguments arbitrarily deep. */
function measure(root: unknown, limit: number, sizeOf: (text: string, left: number) => number): number {
  let total = 0;
  const open: unknown[] = [root];
  while (open.length > 0 && total <= limit) {
    const value = open.pop();
    if (typeof value === "string") {
      total += QUOTES_AND_SEPARATORS_BYTES + sizeOf(value, limit - total);
    } else if (typeof value !== "object" || value === null) {
      total += PLAIN_VALUE_BYTES;
    } else if (Array.isArray(value)) {
      total += QUOTES_AND_SEPARATORS_BYTES;
      for (const item of value) open.push(item);
    } else {
      total += QUOTES_AND_SEPARATORS_BYTES;
      for (const key in value) {
        total += QUOTES_AND_SEPARATORS_BYTES + key.length;
        open.push((value as Record<string, unknown>)[key]);
      }
    }
  }
  return total;
}
