/** A metric label with bounded cardinality, for values that admins choose: each value is a series in Prometheus. */

/** More servers or models than a deployment has at a time. */
const MAX_VALUES = 200;
const OTHER = "other";

export class BoundedLabel {
  readonly #values = new Set<string>();

  /** The value itself; `other` for values beyond the first 200. */
  of(value: string): string {
    if (this.#values.has(value)) return value;
    if (this.#values.size >= MAX_VALUES) return OTHER;
    this.#values.add(value);
    return value;
  }
}
