/** One change of a file at a time: whoever reads, edits and writes a file holds its path meanwhile. */

export class PathLocks {
  /** The end of the last change that waits for each path. Entries go when nobody waits. */
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `change` while holding all `paths`, in order of arrival. Passes on what it returns or throws. */
  async hold<Result>(paths: readonly string[], change: () => Promise<Result>): Promise<Result> {
    const unique = [...new Set(paths)];
    const before = unique.flatMap((path) => this.#tails.get(path) ?? []);
    let release = () => {};
    const tail = new Promise<void>((resolve) => {
      release = resolve;
    });
    // All paths are taken in one step, so two changes can never wait for each other.
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
