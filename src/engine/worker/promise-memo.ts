/** Memo of asynchronous lookups under typed keys. Concurrent callers share one promise; a rejected one is forgotten. */
export class PromiseMemo<Values extends object> {
  readonly #promises: { [Key in keyof Values]?: Promise<Values[Key]> } = {};

  get<Key extends keyof Values>(key: Key, load: () => Promise<Values[Key]>): Promise<Values[Key]> {
    const known = this.#promises[key];
    if (known) return known;
    const loading = load();
    this.#promises[key] = loading;
    loading.catch(() => this.#forgetIfCurrent(key, loading));
    return loading;
  }

  forget(...keys: (keyof Values)[]): void {
    for (const key of keys) delete this.#promises[key];
  }

  #forgetIfCurrent<Key extends keyof Values>(key: Key, promise: Promise<Values[Key]>): void {
    if (this.#promises[key] === promise) delete this.#promises[key];
  }
}
