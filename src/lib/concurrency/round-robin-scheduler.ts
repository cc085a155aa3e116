/**
 * Schedules CPU-heavy tasks one per turn of the event loop, round-robin over their keys: everything else runs between two
 * tasks, and a key with many tasks delays the others by one at a time.
 */
export class RoundRobinScheduler {
  /** In the order in which keys are next; a key that has had its turn goes to the end. */
  readonly #queues = new Map<string, (() => void)[]>();
  #isTurnTaken = false;

  /** Tasks that wait. */
  get waiting(): number {
    let sum = 0;
    for (const queue of this.#queues.values()) sum += queue.length;
    return sum;
  }

  /** Resolves when a task of this key may run, up to its next await. Unbounded: callers limit how many wait. */
  next(key: string): Promise<void> {
    if (!this.#isTurnTaken) {
      this.#takeTurn();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const queue = this.#queues.get(key);
      if (queue) queue.push(resolve);
      else this.#queues.set(key, [resolve]);
    });
  }

  #takeTurn(): void {
    this.#isTurnTaken = true;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isTurnTaken = false;
    const [first] = this.#queues;
    if (!first) return;
    const [key, queue] = first;
    this.#queues.delete(key);
    const run = queue.shift();
    if (queue.length > 0) this.#queues.set(key, queue);
    this.#takeTurn();
    run?.();
  }
}
