/** Cuts UTF-8 bytes without splitting a character. */

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}

function sequenceLength(lead: number): number {
  if (lead >= 0b1111_0000) return 4;
  if (lead >= 0b1110_0000) return 3;
  if (lead >= 0b1100_0000) return 2;
  return 1;
}

/** The largest end ≤ `limit` such that `bytes[0, end)` does not stop inside a character. */
export function prefixEnd(bytes: Uint8Array, limit: number): number {
  const end = Math.min(limit, bytes.length);
  // A character has at most three continuation bytes; more of them is not UTF-8 and is cut where asked.
  for (let back = 1; back <= 4 && back <= end; back += 1) {
    const byte = bytes[end - back] ?? 0;
    if (isContinuation(byte)) continue;
    return sequenceLength(byte) > back ? end - back : end;
  }
  return end;
}

/** The smallest start ≥ `from` such that `bytes[start, …)` does not begin inside a character. */
export function suffixStart(bytes: Uint8Array, from: number): number {
  for (let skipped = 0; skipped <= 3; skipped += 1) {
    if (!isContinuation(bytes[from + skipped])) return from + skipped;
  }
  return from;
}

/** `text`, shortened to at most `limitBytes` of UTF-8. */
export function cutText(text: string, limitBytes: number): string {
  if (Buffer.byteLength(text) <= limitBytes) return text;
  const bytes = Buffer.from(text);
  return bytes.toString("utf8", 0, prefixEnd(bytes, limitBytes));
}
