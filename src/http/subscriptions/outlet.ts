/**
 * The way out of one connection, a socket's or an event stream's: nothing is made for a client that has not taken what
 * was made before, and what one user has not taken yet is bounded over all connections.
 */
import type { Writable } from "node:stream";
import type { ByteAccounts, ByteHold } from "../../lib/streams/byte-accounts.js";

/**
 * Bytes that may wait in one connection before nothing more is made for it. More than the kernel's own buffers would only
 * make events old.
 */
export const MAX_WAITING_BYTES = 64 * 1024;
/** Up to this an answer is not counted to its user: a connection has at most one of them waiting for each operation. */
export const SMALL_ANSWER_BYTES = 16 * 1024;

export type OutletParts = {
  accounts: ByteAccounts;
  /** Whom the bytes count to; by then a stream has somebody who asked for it. */
  owner(): string;
  /** More than `MAX_WAITING_BYTES` wait in the connection. */
  isBehind(): boolean;
  /** Calls back once, when the connection has nothing waiting any more or is closed. */
  onDrained(callback: () => void): void;
};

export class Outlet {
  readonly #parts: OutletParts;
  #waiting: (() => void)[] = [];
  #isWatching = false;

  constructor(parts: OutletParts) {
    this.#parts = parts;
  }

  /** Undefined when something may be made now; else resolves when it may, or when there is no connection any more. */
  ready(): Promise<void> | undefined {
    if (!this.#parts.isBehind()) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#watch();
    });
  }

  /** Room for an answer of so many bytes; null when the user has none now. */
  hold(bytes: number): ByteHold | null {
    const hold = this.#parts.accounts.open(this.#parts.owner());
    return hold.resize(bytes) ? hold : null;
  }

  /** Room for an answer of so many bytes, when it is there. */
  waitFor(bytes: number): Promise<ByteHold> {
    return this.#parts.accounts.wait(this.#parts.owner(), bytes);
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#parts.onDrained(() => {
      this.#isWatching = false;
      this.#admitNext();
    });
  }

  /** One after the other, so that not all operations of a connection make something in the moment that it has drained. */
  #admitNext(): void {
    if (this.#waiting.length === 0) return;
    if (this.#parts.isBehind()) return this.#watch();
    this.#waiting.shift()?.();
    setImmediate(() => this.#admitNext());
  }
}

/** Calls back once, when nothing waits to be written any more; what is closed has nothing waiting either. */
export function whenDrained(transport: Writable, callback: () => void): void {
  const drained = () => {
    transport.off("drain", drained);
    transport.off("close", drained);
    callback();
  };
  transport.on("drain", drained);
  transport.on("close", drained);
}
