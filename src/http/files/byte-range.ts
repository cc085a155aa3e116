/** Parser of the HTTP `Range` header. Pure. */

/** Inclusive on both ends. */
export type ByteRange = { first: number; last: number };

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Parses a `Range` header. `whole`: there is none, or one that a server may ignore (several ranges, other units, invalid
 * syntax). `unsatisfiable`: it does not overlap the file.
 */
export function readRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | "whole" | "unsatisfiable" {
  const [, from = "", to = ""] = RANGE.exec(header?.trim() ?? "") ?? [];
  if (from === "" && to === "") return "whole";
  if (from === "") {
    const length = Math.min(Number(to), sizeBytes);
    return length === 0 ? "unsatisfiable" : { first: sizeBytes - length, last: sizeBytes - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return "whole";
  if (first >= sizeBytes) return "unsatisfiable";
  return { first, last: Math.min(to === "" ? sizeBytes - 1 : Number(to), sizeBytes - 1) };
}
