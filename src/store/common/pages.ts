/** Pages of keyset-sorted lists: asked for by place, read with one row more than wanted, never counted. */

/** A row's place in a sorted list: its sort key as text, and its id to tell equal keys apart. */
export type Place = { key: string; id: string };

/**
 * The rows strictly between `after` and `before`, from the list's start (`forwards`) or its end (`backwards`).
 * `limit` is at least 1.
 */
export type PageRequest = {
  direction: "forwards" | "backwards";
  limit: number;
  after: Place | null;
  before: Place | null;
};

/** `rows` are in list order whatever the direction. */
export type Page<T> = { rows: { place: Place; row: T }[]; hasPreviousPage: boolean; hasNextPage: boolean };

/**
 * `found` is what the database gave, in reading order, at most `limit + 1` rows. `isCut`: it ended before that, because
 * the rows are large.
 */
export function toPage<T>(request: PageRequest, found: { place: Place; row: T }[], isCut = false): Page<T> {
  const hasMore = isCut || found.length > request.limit;
  const rows = found.slice(0, request.limit);
  return request.direction === "forwards"
    ? { rows, hasPreviousPage: request.after !== null, hasNextPage: hasMore }
    : { rows: rows.reverse(), hasPreviousPage: hasMore, hasNextPage: request.before !== null };
}

/** SQL for a timestamp's place: microseconds since the epoch, PostgreSQL's whole precision, as text. */
export function microsOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000000)::bigint::text`;
}

/** SQL for the timestamp that a parameter made by `microsOf` stands for; `otherwise` when it is null. */
export function timestampOf(parameter: string, otherwise: "infinity" | "-infinity"): string {
  // Microseconds stay below 2^53, so the interval's double holds them exactly.
  return `coalesce(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond', '${otherwise}')`;
}

/** Before and after every uuid, for a bound that is not given. */
export const LEAST_UUID = "00000000-0000-0000-0000-000000000000";
export const GREATEST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** A literal text as an ILIKE pattern that finds it anywhere. */
export function containing(text: string): string {
  // PostgreSQL's text cannot hold U+0000, not even in a pattern; nothing stored has it.
  return `%${text.replace(/[\\%_]/g, "\\$&").replaceAll("\u0000", "\uFFFD")}%`;
}
