/**
 * Bounded event queue of one subscriber, as an async iterator. `push` reports when it is full, and the owner decides
 * what the reader gets instead; nothing is dropped silently. `return()` releases it at once.
 */

/** Events queued for one subscriber. */
const MAX_BUFFERED_EVENTS = 1_024;
/** Bytes queued for one subscriber; bounds what a stalled reader costs. */
const MAX_WAITING_BYTES = 2 * 1024 * 1024;

/** Queues up to this size are not counted against the bound shared by the reader's streams: the common case is free. */
const UNCOUNTED_BYTES = 64 * 1024;

export type StreamBounds = { events: number; bytes: number };
/** Bound on the bytes queued in all streams of one reader. `resize` returns false when the bytes do not fit. */
export type SharedBound = { resize(bytes: number): boolean; force(bytes: number): void };

export class EventStream<T> implements AsyncIterableIterator<T> {
  #queue: { event: T; bytes: number }[] = [];
  #queuedBytes = 0;
  #waiting: ((result: IteratorResult<T>) => void)[] = [];
  #isClosed = false;
  #drained: (() => void) | null = null;
  readonly #released: () => void;
  readonly #bounds: StreamBounds;
  readonly #sharedBound: SharedBound | undefined;
  #counted = 0;

  /** `released` is called once, when the reader leaves or the stream is ended. */
  constructor(
    released: () => void,
    bounds: StreamBounds = { events: MAX_BUFFERED_EVENTS, bytes: MAX_WAITING_BYTES },
    sharedBound?: SharedBound,
  ) {
    this.#released = released;
    this.#bounds = bounds;
    this.#sharedBound = sharedBound;
  }

  /** False when the event does not fit; then nothing was queued. `bytes` is the event's approximate size. */
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
   * Replaces all queued events with `event`; `drained` is called once the reader has taken it.
   * Returns the number of discarded events.
   */
  replaceAll(event: T, drained: () => void): number {
    const dropped = this.#queue.length;
    this.#queue = [{ event, bytes: 0 }];
    this.#queuedBytes = 0;
    this.#count(0);
    this.#drained = drained;
    return dropped;
  }

  /** Backpressure signal: events that can be produced later should wait for `whenDrained`. */
  get isHalfFull(): boolean {
    return this.#queue.length >= this.#bounds.events / 2 || this.#queuedBytes >= this.#bounds.bytes / 2;
  }

  /** Calls `drained` once when the queue becomes empty. The queue must not be empty now. */
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

  /** Takes no more events: the reader gets what is queued, then the end. */
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

  /** False when `bytes` do not fit into the bound shared by the reader's streams. */
  #count(bytes: number): boolean {
    const counted = bytes > UNCOUNTED_BYTES ? bytes : 0;
    if (counted > this.#counted && this.#sharedBound?.resize(counted) === false) return false;
    if (counted < this.#counted) this.#sharedBound?.force(counted);
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
