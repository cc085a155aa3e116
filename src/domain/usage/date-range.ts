/** Half-open time ranges and their split into whole days. Pure; days are UTC, times milliseconds since the epoch. */

/** From `from` (inclusive) to `to` (exclusive). */
export type DateRange = { from: number; to: number };

export const DAY_MS = 86_400_000;

/**
 * A range as its whole days and its edges: at most two partial days, neither crossing midnight. Together they cover the
 * range exactly once.
 */
type SplitRange = {
  /** Null = no whole day. */
  days: DateRange | null;
  edges: DateRange[];
};

export function splitRange({ from, to }: DateRange): SplitRange {
  if (from >= to) return { days: null, edges: [] };
  const first = Math.ceil(from / DAY_MS) * DAY_MS;
  const end = Math.floor(to / DAY_MS) * DAY_MS;
  if (first > end) return { days: null, edges: [{ from, to }] };
  const edges = [
    { from, to: first },
    { from: end, to },
  ].filter((edge) => edge.from < edge.to);
  return { days: first < end ? { from: first, to: end } : null, edges };
}

/** For sums without a range. */
export const ALL_TIME: DateRange = {
  from: Date.UTC(2000, 0, 1),
  to: Date.UTC(3000, 0, 1),
};
