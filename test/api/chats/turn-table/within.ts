// No wait of a test lasts for ever: a cell that hangs says where.

/** Far above what any wait needs. */
const PATIENCE_MS = 30_000;

/** Rejects with a sentence when it takes for ever. */
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
