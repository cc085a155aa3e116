/**
 * One subscriber's queue: an async iterator that never grows past its bounds, never drops in silence and lets go
 * at once on `return()`. When it is full it takes nothing more; its owner decides what the reader is told instead.
 */

/** Events that may wait for one subscriber. */
const MAX_WAITING_EVENTS = 1_024;
/** Their size; a reader that stalls must not cost more. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;

/** Up to this what waits is not counted to the reader's other streams: it is the usual, and costs nothing so. */
const UNCOUNTED_BYTES = 64 * 1024;

export type StreamBounds = { events: number; bytes: number };
/** Bytes that wait in all streams of one reader; false = there is no room for so many. */
export type SharedBound = { resize(bytes: number): boolean; force(bytes: number): void };

export class EventStream<T> implements AsyncIterableIterator<T> {
  #queue: { event: T; bytes: number }[] = [];
  #queuedBytes = 0;
  #waiting: ((result: IteratorResult<T>) => void)[] = [];
  #isClosed = false;
  #drained: (() => void) | null = null;
  readonly #released: () => void;
  readonly #bounds: StreamBounds;
  readonly #ofReader: SharedBound | undefined;
  #counted = 0;

  /** `released` is called once, when the reader leaves or the stream is ended. */
  constructor(
    released: () => void,
    bounds: StreamBounds = { events: MAX_WAITING_EVENTS, bytes: MAX_WAITING_BYTES },
    ofReader?: SharedBound,
  ) {
    this.#released = released;
    this.#bounds = bounds;
    this.#ofReader = ofReader;
  }

  /** False when the event does not fit; then nothing was queued. `bytes` is the event's size, roughly. */
  push(event: T, bytes: number): boolean {
    if (this.#isClosed) return true;
    const waiter = this.#waiting.shift();
    if (waiter) {
      waiter({ value: event, done: false });
      return true;
    }
    const isFull =
      this.#queue.length >= this.#bounds.events || this.#queuedBytes + bytes > this.#bounds.bytes;
    if (this.#queue.length > 0 && (isFull || !this.#count(this.#queuedBytes + bytes))) return false;
    this.#queue.push({ event, bytes });
    this.#queuedBytes += bytes;
    return true;
  }

  /**
   * Throws away what waits and puts `event` in its place; `drained` is called once the reader has taken it.
   * Returns how many events were thrown away.
   */
  replaceAll(event: T, drained: () => void): number {
    const dropped = this.#queue.length;
    this.#queue = [{ event, bytes: 0 }];
    this.#queuedBytes = 0;
    this.#count(0);
    this.#drained = drained;
    return dropped;
  }

  /** More of what can wait should be told once the reader has taken what is there: see `whenDrained`. */
  get isHalfFull(): boolean {
    return this.#queue.length >= this.#bounds.events / 2 || this.#queuedBytes >= this.#bounds.bytes / 2;
  }

  /** Calls `drained` once the reader has taken everything that waits now or joins it; something must wait. */
  whenDrained(drained: () => void): void {
    this.#drained = drained;
  }

  next(): Promise<IteratorResult<T>> {
    const first = this.#queue.shift();
    if (first) {
      this.#queuedBytes -= first.bytes;
      if (this.#counted > 0) this.#count(this.#queuedBytes);
      const drained = this.#drained;
      if (this.#queue.length === 0 && drained) {
        this.#drained = null;
        drained();
      }
      return Promise.resolve({ value: first.event, done: false });
    }
    if (this.#isClosed) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** No more events: the reader gets what waits, then the end. */
  end(): void {
    this.#close();
  }

  return(): Promise<IteratorResult<T>> {
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#count(0);
    this.#close();
    return Promise.resolve({ value: undefined, done: true });
  }

  async throw(error: unknown): Promise<IteratorResult<T>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** False when the reader's streams have no room for so many bytes in this one. */
  #count(bytes: number): boolean {
    const counted = bytes > UNCOUNTED_BYTES ? bytes : 0;
    if (counted > this.#counted && this.#ofReader?.resize(counted) === false) return false;
    if (counted < this.#counted) this.#ofReader?.force(counted);
    this.#counted = counted;
    return true;
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#drained = null;
    for (const waiter of this.#waiting.splice(0)) waiter({ value: undefined, done: true });
    this.#released();
  }
}
