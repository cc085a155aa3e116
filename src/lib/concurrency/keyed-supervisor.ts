/** One running thing per key, such as a `SupervisedTask`; closing waits for all of them, also for those stopped before. */

export interface Supervised {
  /** Resolves when it runs no more. Never rejects. */
  readonly ended: Promise<void>;
  /** Makes it end. A second call does nothing. */
  close(): void;
}

export class KeyedSupervisor<T extends Supervised> {
  /** The least recently used first. */
  readonly #running = new Map<string, T>();
  readonly #ending = new Set<Promise<void>>();
  #isClosed = false;

  get size(): number {
    return this.#running.size;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get leastRecentlyUsed(): string | undefined {
    const [key] = this.#running.keys();
    return key;
  }

  get(key: string): T | undefined {
    return this.#running.get(key);
  }

  values(): Iterable<T> {
    return this.#running.values();
  }

  /** The one that runs for the key, else a new one. Throws when closed. */
  ensure(key: string, start: () => T): T {
    if (this.#isClosed) throw new Error("The supervisor is closed.");
    const running = this.#running.get(key) ?? this.#start(key, start);
    this.#running.delete(key);
    this.#running.set(key, running);
    return running;
  }

  /** Closes the key's, if there is one; resolves when it has ended. A later `ensure` starts another without waiting. */
  async stop(key: string): Promise<void> {
    const running = this.#running.get(key);
    this.#running.delete(key);
    running?.close();
    await running?.ended;
  }

  /** Closes all; resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const running of this.#running.values()) running.close();
    await Promise.all(this.#ending);
  }

  #start(key: string, start: () => T): T {
    const started = start();
    const ending = started.ended.then(() => {
      this.#ending.delete(ending);
      if (this.#running.get(key) === started) this.#running.delete(key);
    });
    this.#ending.add(ending);
    return started;
  }
}
