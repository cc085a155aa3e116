/**
 * Resumable event stream. It is reopened after the last received event until its reader leaves or the server refuses it
 * permanently. No event is lost or repeated, because the server resumes exactly after a cursor.
 *
 * States: streaming (an operation runs), waiting (a timer runs before the next attempt), paused (the reader is slow and
 * its buffer is full) and over.
 */
import { errorOfAnswer, permanentFailure, ParleyError, type AnswerError } from "./parley-error.js";
import { retryDelayMs, type RetryDelays } from "./retry-delay.js";
import type { Request } from "./socket.js";

/**
 * Limit of buffered events. At the limit the stream is unsubscribed, and resumed after the last buffered event once the
 * reader has consumed them all, so memory is bounded on both sides.
 */
export const MAX_BUFFERED_EVENTS = 1_000;

/** A pending reconnect, for logs and "reconnecting…" indicators. */
export type RetryNotice = {
  /** Counted from 1 since the last received event. */
  attempt: number;
  delayMs: number;
  /** What ended the last attempt: an error, a close event, or undefined when the server completed the stream. */
  reason: unknown;
};

export type OpenStream = (
  request: Request,
  sink: { next(answer: unknown): void; error(reason: unknown): void; complete(): void },
) => () => void;

export type FollowerOptions = {
  open: OpenStream;
  query: string;
  /** All variables except `after`. */
  variables: Record<string, unknown>;
  /** The subscription's root field. */
  field: string;
  after?: string | null;
  signal?: AbortSignal;
  delays: RetryDelays;
  random: () => number;
  onRetry?: (notice: RetryNotice) => void;
  /** Called once, when the stream is over. */
  onEnd: () => void;
};

type Waiter<E> = { resolve: (result: IteratorResult<E>) => void; reject: (reason: unknown) => void };

export class Follower<E extends { cursor: string }> implements AsyncIterableIterator<E> {
  readonly #options: FollowerOptions;
  #cursor: string | null;
  #events: E[] = [];
  #waiters: Waiter<E>[] = [];
  #isOver = false;
  /** Thrown to the reader after the last buffered event. */
  #failure: ParleyError | null = null;
  #isPaused = false;
  #attempt = 0;
  #leave: () => void = () => undefined;
  readonly #abort = () => this.#finish(null);

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#cursor = options.after ?? null;
    options.signal?.addEventListener("abort", this.#abort);
    if (options.signal?.aborted) this.#finish(null);
    else this.#open();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<E>> {
    const event = this.#events.shift();
    if (event) {
      if (this.#isPaused && this.#events.length === 0) this.#open();
      return Promise.resolve({ value: event, done: false });
    }
    const failure = this.#failure;
    this.#failure = null;
    if (failure) return Promise.reject(failure);
    if (this.#isOver) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Ends the stream immediately, even while a `next()` is pending. */
  return(): Promise<IteratorResult<E>> {
    this.#events = [];
    this.#failure = null;
    this.#finish(null);
    return Promise.resolve({ value: undefined, done: true });
  }

  /** Ends the stream with the error `CLOSED`. */
  close(): void {
    this.#finish(new ParleyError("CLOSED", "The client was closed."));
  }

  #open(): void {
    this.#isPaused = false;
    const { open, query, variables, field } = this.#options;
    let isCurrent = true;
    const once = (then: () => void) => {
      if (!isCurrent) return;
      isCurrent = false;
      then();
    };
    const end = open(
      { query, variables: { ...variables, after: this.#cursor } },
      {
        next: (answer) => {
          if (!isCurrent) return;
          const event = eventOf<E>(answer, field);
          if (event instanceof ParleyError) {
            this.#leave();
            return this.#retryOrFail(event);
          }
          this.#take(event);
        },
        error: (reason) => once(() => this.#retryOrFail(errorsOf(reason) ?? reason)),
        complete: () => once(() => this.#retryOrFail(undefined)),
      },
    );
    this.#leave = () => once(end);
  }

  #take(event: E): void {
    this.#attempt = 0;
    this.#cursor = event.cursor;
    const waiter = this.#waiters.shift();
    if (waiter) return waiter.resolve({ value: event, done: false });
    this.#events.push(event);
    if (this.#events.length < MAX_BUFFERED_EVENTS) return;
    this.#isPaused = true;
    this.#leave();
  }

  #retryOrFail(reason: unknown): void {
    const failure = permanentFailure(reason);
    if (failure) return this.#finish(failure);
    this.#attempt += 1;
    const delayMs = retryDelayMs(this.#attempt, this.#options.delays, this.#options.random);
    const timer = setTimeout(() => this.#open(), delayMs);
    this.#leave = () => clearTimeout(timer);
    this.#options.onRetry?.({ attempt: this.#attempt, delayMs, reason });
  }

  #finish(failure: ParleyError | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isPaused = false;
    this.#leave();
    this.#options.signal?.removeEventListener("abort", this.#abort);
    const [first, ...others] = this.#waiters.splice(0);
    if (failure && first) first.reject(failure);
    else {
      this.#failure = failure;
      first?.resolve({ value: undefined, done: true });
    }
    for (const waiter of others) waiter.resolve({ value: undefined, done: true });
    this.#options.onEnd();
  }
}

/** The event of a response. A response with errors is not delivered, since fields would be missing; the event comes again after the cursor. */
function eventOf<E>(answer: unknown, field: string): E | ParleyError {
  const { data, errors } = answer as { data?: Record<string, E> | null; errors?: readonly AnswerError[] };
  if (errors && errors.length > 0) return errorOfAnswer(errors);
  return data?.[field] ?? new ParleyError("BAD_RESPONSE", "The server sent no event.");
}

function errorsOf(reason: unknown): ParleyError | null {
  return Array.isArray(reason) ? errorOfAnswer(reason as AnswerError[]) : null;
}
