// Reproducible randomness: every choice of the soak derives from one seed.
import { randomNumbers } from "../support/random.js";

export class Chance {
  readonly #number: (below: number) => number;

  private constructor(seed: number) {
    this.#number = randomNumbers(seed);
  }

  /** A separate stream per purpose, so that the choices of one do not affect another. */
  static of(seed: number, ...purpose: (string | number)[]): Chance {
    let mixed = seed | 0;
    for (const character of `${seed} ${purpose.join(" ")}`) {
      mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 0x5bd1e995);
      mixed ^= mixed >>> 13;
    }
    return new Chance(mixed);
  }

  below(bound: number): number {
    return this.#number(bound);
  }

  /** True with a probability of `share` percent. */
  percent(share: number): boolean {
    return this.#number(100) < share;
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.#number(list.length)];
    if (found === undefined) throw new Error("nothing to pick from");
    return found;
  }

  /** One of the names, with probabilities proportional to the weights. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[];
    let left = this.#number(names.reduce((sum, name) => sum + weights[name], 0));
    for (const name of names) if ((left -= weights[name]) < 0) return name;
    throw new Error("nothing to choose from");
  }
}

/** Counts of events by group and name, for the summary. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(group: string, name: string, times = 1): void {
    const counts = this.#counts.get(group) ?? new Map<string, number>();
    this.#counts.set(group, counts);
    counts.set(name, (counts.get(name) ?? 0) + times);
  }

  count(group: string): number {
    return [...(this.#counts.get(group)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
  }

  /** One line per group, the most frequent first. */
  lines(): string[] {
    return [...this.#counts].map(([group, counts]) => {
      const sorted = [...counts].sort(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`);
      return `${group}: ${this.count(group)} (${sorted.join(", ")})`;
    });
  }
}
