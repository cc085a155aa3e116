/** Memoizes an asynchronous read for a few seconds. */

/** The longest that this replica serves a changed setting's old value when no event invalidates it. */
const TTL_MS = 10_000;

export type Memoized<T> = {
  (): Promise<T>;
  /** Later calls get the result of a read that began after this. */
  invalidate(): void;
};

/** Concurrent callers share one read; a rejected one is not kept. */
export function memoizeWithTtl<T>(now: () => number, read: () => Promise<T>): Memoized<T> {
  let cached: { at: number; value: Promise<T> } | null = null;
  const get = () => {
    if (cached && now() - cached.at < TTL_MS) return cached.value;
    const entry = { at: now(), value: read() };
    cached = entry;
    entry.value.catch(() => {
      if (cached === entry) cached = null;
    });
    return entry.value;
  };
  return Object.assign(get, { invalidate: () => void (cached = null) });
}
