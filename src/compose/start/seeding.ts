/** The seeding of a deployment, which runs once the server listens: a start that fails before creates no token. */
import type { seed } from "./seed.js";

export type Seeded = Awaited<ReturnType<typeof seed>>;

export class Seeding {
  #current: Seeded | null = null;
  #settle: (result: Promise<Seeded>) => void = () => {};
  /** Settles with the seeding, whenever that begins. */
  readonly done = new Promise<Seeded>((resolve) => (this.#settle = resolve));

  constructor(private readonly seed: () => Promise<Seeded>) {
    // A failure is reported by `run`, and to requests that wait; there may be none.
    this.done.catch(() => {});
  }

  /** Null until it is done. */
  get current(): Seeded | null {
    return this.#current;
  }

  /** To be called once. */
  async run(): Promise<Seeded> {
    const running = this.seed();
    this.#settle(running);
    this.#current = await running;
    return this.#current;
  }
}
