/**
 * Gives each piece of work that keeps the process busy a turn of the event loop of its own, the keys that ask one after
 * the other: between two pieces everything else goes on, and a key that asks for many delays the others by one at a time.
 */
export class FairTurns {
  /** In the order in which keys are next; a key that has had its turn goes to the end. */
  readonly #lines = new Map<string, (() => void)[]>();
  #isTaken = false;

  /** Pieces of work that wait. */
  get waiting(): number {
    let sum = 0;
    for (const line of this.#lines.values()) sum += line.length;
    return sum;
  }

  /** Resolves when this key may work, until it awaits something. Each caller's own bounds say how many may wait. */
  next(key: string): Promise<void> {
    if (!this.#isTaken) {
      this.#take();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const line = this.#lines.get(key);
      if (line) line.push(resolve);
      else this.#lines.set(key, [resolve]);
    });
  }

  #take(): void {
    this.#isTaken = true;
    setImmediate(() => this.#pass());
  }

  #pass(): void {
    this.#isTaken = false;
    const [first] = this.#lines;
    if (!first) return;
    const [key, line] = first;
    this.#lines.delete(key);
    const go = line.shift();
    if (line.length > 0) this.#lines.set(key, line);
    this.#take();
    go?.();
  }
}
