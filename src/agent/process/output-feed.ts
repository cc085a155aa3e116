/**
 * The newest output of one running command, for those who follow it: a ring of bytes and the way to wait for more.
 * Followers keep their own place, so a slow one costs nothing: it finds a gap where it was overtaken.
 * States: open → ended (by `end`). An ended feed forgets its bytes as soon as nobody follows it: the result has them.
 */
import type { Clock } from "../../lib/clock.js";
import { prefixEnd, suffixStart } from "../../lib/text/utf8.js";
import { RETAINED_OUTPUT_BYTES } from "../protocol/process-stream.js";

/** Most commands say little: a ring begins so small and doubles. */
const FIRST_RING_BYTES = 4 * 1024;

/** Each costs what its sockets hold: more than all replicas of a server that may wait for one command. */
export const MAX_FOLLOWERS = 64;

/** Bytes `offset` to `nextOffset` of the whole output. */
export type OutputChunk = { offset: number; nextOffset: number; text: string };

export class OutputFeed {
  /** Holds the byte at `offset` of the output at `offset % length`. */
  #ring: Buffer = Buffer.alloc(0);
  #writtenBytes = 0;
  #keptBytes = 0;
  #followers = 0;
  #isEnded = false;
  readonly #wakers = new Set<() => void>();

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether one more may follow. */
  get hasRoom(): boolean {
    return this.#followers < MAX_FOLLOWERS;
  }

  /** Of the whole output so far. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Takes all of `chunk`; never fails and never keeps a reference to it. */
  write(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#isEnded) return;
    this.#grow(Math.min(RETAINED_OUTPUT_BYTES, this.#keptBytes + chunk.length));
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#ring.length));
    const start = (this.#writtenBytes + chunk.length - kept.length) % this.#ring.length;
    const untilEnd = Math.min(kept.length, this.#ring.length - start);
    this.#ring.set(kept.subarray(0, untilEnd), start);
    this.#ring.set(kept.subarray(untilEnd), 0);
    this.#writtenBytes += chunk.length;
    this.#keptBytes = Math.min(this.#ring.length, this.#keptBytes + chunk.length);
    this.#wake();
  }

  /** Nothing more comes. */
  end(): void {
    this.#isEnded = true;
    this.#forget();
    this.#wake();
  }

  /** Keeps the bytes of an ended command until the returned function is called. */
  follow(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      this.#forget();
    };
  }

  /** What is kept behind `from`, up to the last whole character; null when that is nothing. */
  read(from: number): OutputChunk | null {
    const oldest = this.#writtenBytes - this.#keptBytes;
    const start = Math.max(from, oldest);
    if (start >= this.#writtenBytes) return null;
    const bytes = this.#bytesFrom(start);
    // Only where bytes are missing may a character be without its beginning.
    const skipped = start > from ? suffixStart(bytes, 0) : 0;
    const end = this.#isEnded ? bytes.length : prefixEnd(bytes, bytes.length);
    if (end <= skipped) return null;
    return { offset: start + skipped, nextOffset: start + end, text: bytes.toString("utf8", skipped, end) };
  }

  /**
   * Resolves when more than `seenBytes` were written, when the feed has ended, after `timeoutMs`, or when `signal` is
   * aborted, whichever is first. Never rejects.
   */
  waitBeyond(
    seenBytes: number,
    wait: { clock: Clock; timeoutMs: number; signal: AbortSignal },
  ): Promise<void> {
    const { clock, timeoutMs, signal } = wait;
    return new Promise((resolve) => {
      if (this.#writtenBytes > seenBytes || this.#isEnded || signal.aborted) return resolve();
      const wake = () => {
        cancelTimer();
        this.#wakers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const cancelTimer = clock.after(timeoutMs, wake);
      this.#wakers.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  #bytesFrom(offset: number): Buffer {
    const start = offset % this.#ring.length;
    const length = this.#writtenBytes - offset;
    const first = this.#ring.subarray(start, Math.min(this.#ring.length, start + length));
    return Buffer.concat([first, this.#ring.subarray(0, length - first.length)]);
  }

  #grow(neededBytes: number): void {
    let size = Math.max(this.#ring.length, FIRST_RING_BYTES);
    while (size < neededBytes) size *= 2;
    if (size === this.#ring.length) return;
    const kept =
      this.#keptBytes === 0 ? Buffer.alloc(0) : this.#bytesFrom(this.#writtenBytes - this.#keptBytes);
    const ring = Buffer.alloc(size);
    const start = (this.#writtenBytes - kept.length) % size;
    const untilEnd = Math.min(kept.length, size - start);
    ring.set(kept.subarray(0, untilEnd), start);
    ring.set(kept.subarray(untilEnd), 0);
    this.#ring = ring;
  }

  #forget(): void {
    if (!this.#isEnded || this.#followers > 0) return;
    this.#ring = Buffer.alloc(0);
    this.#keptBytes = 0;
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
