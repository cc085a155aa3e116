/** A label whose words admins make up: each word is a series that Prometheus keeps, so there is an end to them. */

/** More servers or models than a deployment has at a time. */
const MAX_WORDS = 200;
const OTHERS = "other";

export class BoundedLabel {
  readonly #words = new Set<string>();

  /** The word itself; `other` for those that come after the first 200. */
  of(word: string): string {
    if (this.#words.has(word)) return word;
    if (this.#words.size >= MAX_WORDS) return OTHERS;
    this.#words.add(word);
    return word;
  }
}
