/**
 * Backpressure of one connection, a WebSocket or an event stream: no event is executed for a client that has not taken
 * the earlier results, and the bytes that a user has not taken yet are bounded over all connections.
 */
import type { Writable } from "node:stream";
import type { ByteBudget, ByteReservation } from "../../lib/streams/byte-budget.js";

/**
 * Bytes buffered in one connection before it counts as behind. Buffering more than the kernel does would only deliver
 * stale events.
 */
export const MAX_WAITING_BYTES = 64 * 1024;
/** Results up to this size are not counted to their user: a connection buffers at most one of them per operation. */
export const SMALL_RESULT_BYTES = 16 * 1024;

export type OutputQueueDependencies = {
  byteBudget: ByteBudget;
  /** The owner that the bytes are counted to; called when a stream's viewer is known. */
  owner(): string;
  /** Whether more than `MAX_WAITING_BYTES` are buffered in the connection. */
  isBehind(): boolean;
  /** Calls back once, when the connection's buffer is empty or the connection is closed. */
  onDrained(callback: () => void): void;
};

export class OutputQueue {
  readonly #dependencies: OutputQueueDependencies;
  #waiting: (() => void)[] = [];
  #isWatching = false;

  constructor(dependencies: OutputQueueDependencies) {
    this.#dependencies = dependencies;
  }

  /** Undefined when an event may be executed now; else resolves when it may, or when the connection is closed. */
  ready(): Promise<void> | undefined {
    if (!this.#dependencies.isBehind()) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#watch();
    });
  }

  /** Reserves bytes for a result; null when they exceed the user's budget now. */
  tryReserve(bytes: number): ByteReservation | null {
    const reservation = this.#dependencies.byteBudget.open(this.#dependencies.owner());
    return reservation.resize(bytes) ? reservation : null;
  }

  /** Reserves bytes for a result as soon as they fit into the user's budget. */
  reserve(bytes: number): Promise<ByteReservation> {
    return this.#dependencies.byteBudget.wait(this.#dependencies.owner(), bytes);
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#dependencies.onDrained(() => {
      this.#isWatching = false;
      this.#admitNext();
    });
  }

  /** Admits one waiting operation per turn of the event loop, so that not all execute at once when the buffer drains. */
  #admitNext(): void {
    if (this.#waiting.length === 0) return;
    if (this.#dependencies.isBehind()) return this.#watch();
    this.#waiting.shift()?.();
    setImmediate(() => this.#admitNext());
  }
}

/** Calls back once, when the stream's buffer is empty or the stream is closed. */
export function whenDrained(transport: Writable, callback: () => void): void {
  const drained = () => {
    transport.off("drain", drained);
    transport.off("close", drained);
    callback();
  };
  transport.on("drain", drained);
  transport.on("close", drained);
}
