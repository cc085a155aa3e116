/** Resolves when everything that has already arrived at this process's sockets has been handled. Not a delay. */
export function restOfLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
