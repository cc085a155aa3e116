/** A reading remembered for a few seconds, however often it is asked for. */

/** How long a changed setting may take to be heard by this replica when nobody tells it. */
const MEMORY_MS = 10_000;

export type Remembered<T> = {
  (): Promise<T>;
  /** Whoever asks from now on gets a reading that began after this. */
  forget(): void;
};

/** Those who ask at the same time share one read; one that failed is not remembered. */
export function remembered<T>(now: () => number, read: () => Promise<T>): Remembered<T> {
  let kept: { at: number; value: Promise<T> } | null = null;
  const ask = () => {
    if (kept && now() - kept.at < MEMORY_MS) return kept.value;
    const reading = { at: now(), value: read() };
    kept = reading;
    reading.value.catch(() => {
      if (kept === reading) kept = null;
    });
    return reading.value;
  };
  return Object.assign(ask, { forget: () => void (kept = null) });
}
