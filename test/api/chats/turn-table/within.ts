// Time limit of every wait, so that a cell that hangs reports where.

/** Far longer than any wait takes. */
const PATIENCE_MS = 30_000;

/** Rejects with a description of the wait when the limit is exceeded. */
export async function within<T>(work: Promise<T>, waitingFor: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited in vain for ${waitingFor()}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
