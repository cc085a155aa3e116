/**
 * Ring buffer of one running command's newest output, for followers that read it live. Followers keep their own offset,
 * so a slow one costs nothing: it gets a gap where it was overtaken.
 * States: open → ended (by `end`). An ended feed drops its bytes once it has no followers: the result has them.
 */
import type { Clock } from "../../lib/clock.js";
import { prefixEnd, suffixStart } from "../../lib/text/utf8.js";
import { RETAINED_OUTPUT_BYTES } from "../protocol/process-stream.js";

/** Initial size of the ring, which doubles: most commands print little. */
const FIRST_RING_BYTES = 4 * 1024;

/** Each costs its socket's buffers. More than the replicas of a server that may wait for one command. */
export const MAX_FOLLOWERS = 64;

/** Bytes `offset` to `nextOffset` of the whole output. */
export type OutputChunk = { offset: number; nextOffset: number; text: string };

export class OutputFeed {
  /** The byte at `offset` of the output is at `offset % length`. */
  #ring: Buffer = Buffer.alloc(0);
  #writtenBytes = 0;
  #retainedBytes = 0;
  #followers = 0;
  #isEnded = false;
  readonly #wakers = new Set<() => void>();

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether another follower is allowed. */
  get hasCapacity(): boolean {
    return this.#followers < MAX_FOLLOWERS;
  }

  /** Of the whole output so far. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Copies all of `chunk`; never fails. */
  write(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#isEnded) return;
    this.#grow(Math.min(RETAINED_OUTPUT_BYTES, this.#retainedBytes + chunk.length));
    const retained = chunk.subarray(Math.max(0, chunk.length - this.#ring.length));
    const start = (this.#writtenBytes + chunk.length - retained.length) % this.#ring.length;
    const untilEnd = Math.min(retained.length, this.#ring.length - start);
    this.#ring.set(retained.subarray(0, untilEnd), start);
    this.#ring.set(retained.subarray(untilEnd), 0);
    this.#writtenBytes += chunk.length;
    this.#retainedBytes = Math.min(this.#ring.length, this.#retainedBytes + chunk.length);
    this.#wake();
  }

  /** Marks the end of the output. */
  end(): void {
    this.#isEnded = true;
    this.#releaseIfUnused();
    this.#wake();
  }

  /** Retains the bytes, also of an ended command, until the returned function is called. */
  follow(): () => void {
    this.#followers += 1;
    return () => {
      this.#followers -= 1;
      this.#releaseIfUnused();
    };
  }

  /** The retained output from `from` on, up to the last whole character; null when there is none. */
  read(from: number): OutputChunk | null {
    const oldest = this.#writtenBytes - this.#retainedBytes;
    const start = Math.max(from, oldest);
    if (start >= this.#writtenBytes) return null;
    const bytes = this.#bytesFrom(start);
    // Only after a gap may a character lack its beginning.
    const skipped = start > from ? suffixStart(bytes, 0) : 0;
    const end = this.#isEnded ? bytes.length : prefixEnd(bytes, bytes.length);
    if (end <= skipped) return null;
    return { offset: start + skipped, nextOffset: start + end, text: bytes.toString("utf8", skipped, end) };
  }

  /**
   * Resolves when more than `seenBytes` were written, when the feed has ended, after `timeoutMs`, or when `signal` is
   * aborted, whichever comes first. Never rejects.
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
    const retained =
      this.#retainedBytes === 0 ? Buffer.alloc(0) : this.#bytesFrom(this.#writtenBytes - this.#retainedBytes);
    const ring = Buffer.alloc(size);
    const start = (this.#writtenBytes - retained.length) % size;
    const untilEnd = Math.min(retained.length, size - start);
    ring.set(retained.subarray(0, untilEnd), start);
    ring.set(retained.subarray(untilEnd), 0);
    this.#ring = ring;
  }

  #releaseIfUnused(): void {
    if (!this.#isEnded || this.#followers > 0) return;
    this.#ring = Buffer.alloc(0);
    this.#retainedBytes = 0;
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }
}
