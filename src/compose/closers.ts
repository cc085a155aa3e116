/** Closes what was opened, last opened first; one that fails does not keep the others open. */
import type { Log } from "../lib/log.js";

export class Closers {
  readonly #closers: { name: string; close: () => Promise<void> }[] = [];

  constructor(private readonly log: Log) {}

  add(name: string, close: () => Promise<void>): void {
    this.#closers.unshift({ name, close });
  }

  async closeAll(): Promise<void> {
    for (const { name, close } of this.#closers.splice(0)) {
      await close().catch((error: unknown) => this.log.error({ err: error }, `Closing ${name} failed`));
    }
  }
}
