/** Stack of close functions, run in reverse order; a failing one does not keep the others open. */
import type { Log } from "../lib/log.js";

export class Closers {
  readonly #closers: { name: string; close: () => Promise<void> }[] = [];

  constructor(private readonly log: Log) {}

  add(name: string, close: () => Promise<void>): void {
    this.#closers.unshift({ name, close });
  }

  async closeAll(): Promise<void> {
    for (const { name, close } of this.#closers.splice(0)) {
      await close().catch((error: unknown) => this.log.error({ err: error }, `closing ${name} failed`));
    }
  }
}
