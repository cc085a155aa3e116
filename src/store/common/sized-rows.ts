/**
 * Reads that end where contents become too large: a row may have more than a megabyte, and a statement a hundred rows. The
 * database counts the bytes, so that rows beyond the bound are never sent.
 */

/** A result, and the bytes of its contents as JSON. */
export type Sized<T> = { found: T; bytes: number };

/** Columns that `boundedByBytes` adds; int8 comes as text. `found_rows`: the number of rows without the bound. */
export type SizedDbRow = { content_bytes: number; found_rows: string };

/**
 * SQL: the rows of a query that has a column `content`, up to the one with which their contents pass `bound`, an int8
 * parameter such as `$4`.
 */
export function boundedByBytes(query: string, bound: string): string {
  return `SELECT * FROM (
      SELECT sized.*, count(*) OVER () AS found_rows, sum(content_bytes) OVER (ROWS UNBOUNDED PRECEDING) AS bytes_so_far
      FROM (SELECT found.*, octet_length(found.content::text) AS content_bytes FROM (${query}) found) sized
    ) bounded WHERE bytes_so_far - content_bytes <= ${bound}::bigint`;
}

/** Null when the rows of `boundedByBytes` did not fit. */
export function unlessTooLarge<Row extends SizedDbRow, T>(
  rows: readonly Row[],
  maxBytes: number,
  shape: (row: Row) => T,
): Sized<T[]> | null {
  const bytes = rows.reduce((sum, row) => sum + row.content_bytes, 0);
  return bytes > maxBytes ? null : { found: rows.map(shape), bytes };
}
