/** Summary statistics. */

/** A median with the least and the most of what it was taken from. */
export type Spread = { median: number; least: number; most: number };

/** The value below which `percent` of all lie. NaN when there is none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? NaN;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const middle = (sorted.length - 1) / 2;
  const [below = NaN, above = NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return { median: (below + above) / 2, least: sorted[0] ?? NaN, most: sorted.at(-1) ?? NaN };
}

/** The values of two lists, pair by pair, as one. */
export function paired(
  a: readonly number[],
  b: readonly number[],
  join: (a: number, b: number) => number,
): number[] {
  return a.flatMap((value, index) => {
    const other = b[index];
    return other === undefined ? [] : [join(value, other)];
  });
}
