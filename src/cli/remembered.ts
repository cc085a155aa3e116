/** A setting read at most every few seconds, however often it is asked for. */

/** How long a changed setting may take to be heard by this replica. */
const SETTING_CACHE_MS = 10_000;

/** Those who ask at the same time share one read; one that failed is not remembered. */
export function remembered<T>(now: () => number, read: () => Promise<T>): () => Promise<T> {
  let kept: { at: number; value: Promise<T> } | null = null;
  return () => {
    if (kept && now() - kept.at < SETTING_CACHE_MS) return kept.value;
    const value = read();
    kept = { at: now(), value };
    value.catch(() => (kept = null));
    return value;
  };
}
