/** Keyset pagination: pages are requested by cursor, read with one row beyond the limit, and never counted. */

/** A row's position in a sorted list: its sort key as text, and its id, which orders equal keys. */
export type CursorKey = { key: string; id: string };

/**
 * The rows strictly between `after` and `before`, from the list's start (`forwards`) or its end (`backwards`).
 * `limit` is at least 1.
 */
export type PageRequest = {
  direction: "forwards" | "backwards";
  limit: number;
  after: CursorKey | null;
  before: CursorKey | null;
};

/** `rows` are in list order whatever the direction. */
export type Page<T> = {
  rows: { cursor: CursorKey; row: T }[];
  hasPreviousPage: boolean;
  hasNextPage: boolean;
};

/**
 * `found` is in reading order, at most `limit + 1` rows. `isCut`: reading ended before that, because the rows are large.
 */
export function toPage<T>(
  request: PageRequest,
  found: { cursor: CursorKey; row: T }[],
  isCut = false,
): Page<T> {
  const hasMore = isCut || found.length > request.limit;
  const rows = found.slice(0, request.limit);
  return request.direction === "forwards"
    ? { rows, hasPreviousPage: request.after !== null, hasNextPage: hasMore }
    : { rows: rows.reverse(), hasPreviousPage: hasMore, hasNextPage: request.before !== null };
}

/** SQL for a timestamp as a cursor key: microseconds since the epoch, PostgreSQL's full precision, as text. */
export function microsOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000000)::bigint::text`;
}

/** SQL for the timestamp of a key made by `microsOf`; `otherwise` when it is null. */
export function timestampOf(parameter: string, otherwise: "infinity" | "-infinity"): string {
  // Microseconds stay below 2^53, so the interval's double holds them exactly.
  return `coalesce(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond', '${otherwise}')`;
}

/** Bounds below and above every uuid, for absent cursors. */
export const LEAST_UUID = "00000000-0000-0000-0000-000000000000";
export const GREATEST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** An ILIKE pattern that matches the text anywhere, literally. */
export function containing(text: string): string {
  // PostgreSQL's text has no U+0000, not even in a pattern.
  return `%${text.replace(/[\\%_]/g, "\\$&").replaceAll("\u0000", "\uFFFD")}%`;
}
