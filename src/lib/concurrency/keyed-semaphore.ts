/** A turnstile for each key: so many of one key at a time, the others wait behind their own only. */
import type { Clock } from "../clock.js";
import { type Leave, Turnstile, type TurnstileBounds } from "./bounded-semaphore.js";

export class Turnstiles {
  /** Keys that have nobody inside or waiting take no memory. */
  readonly #byKey = new Map<string, Turnstile>();

  constructor(
    readonly bounds: Readonly<TurnstileBounds>,
    private readonly clock: Clock,
  ) {}

  /** Who is inside now, and who waits, of all keys. */
  count(): { inside: number; waiting: number } {
    const sum = { inside: 0, waiting: 0 };
    for (const turnstile of this.#byKey.values()) {
      const { inside, waiting } = turnstile.count();
      sum.inside += inside;
      sum.waiting += waiting;
    }
    return sum;
  }

  /** Resolves inside, to the way out; null when there is no place in time. */
  async enter(key: string): Promise<Leave | null> {
    const turnstile = this.#byKey.get(key) ?? new Turnstile(this.bounds, this.clock);
    this.#byKey.set(key, turnstile);
    const leave = await turnstile.enter();
    if (leave === null) return null;
    return () => {
      leave();
      const { inside, waiting } = turnstile.count();
      if (inside + waiting === 0 && this.#byKey.get(key) === turnstile) this.#byKey.delete(key);
    };
  }
}
