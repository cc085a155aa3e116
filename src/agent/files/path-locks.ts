/** Exclusive locks by path: a change reads, edits and writes its files under the locks of their paths. */

export class PathLocks {
  /** The end of the last queued change for each path. Entries are removed when the queue is empty. */
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `change` under the locks of all `paths`, in order of arrival. Returns or throws what it does. */
  async runExclusive<Result>(paths: readonly string[], change: () => Promise<Result>): Promise<Result> {
    const unique = [...new Set(paths)];
    const before = unique.flatMap((path) => this.#tails.get(path) ?? []);
    let release = () => {};
    const tail = new Promise<void>((resolve) => {
      release = resolve;
    });
    // All paths are locked in one step, so two changes can never wait for each other.
    for (const path of unique) this.#tails.set(path, tail);
    try {
      await Promise.all(before);
      return await change();
    } finally {
      release();
      for (const path of unique) if (this.#tails.get(path) === tail) this.#tails.delete(path);
    }
  }
}
