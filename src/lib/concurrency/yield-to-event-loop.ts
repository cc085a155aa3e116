/** Resolves once everything that has already arrived at this process's sockets has been handled. Not a delay. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
