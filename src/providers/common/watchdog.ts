/**
 * Stall watchdog for a vendor's stream: the SDKs' own timeouts do not cover a body that stalls. Owns the call's
 * AbortController; nothing outlives the iteration.
 */
import { type Clock, systemClock } from "../../lib/clock.js";

/** From the request to the vendor's first event. Sixty seconds covers a cold model behind a queue. */
const STARTUP_TIMEOUT_MS = 60_000;
/** Between two events. Models may think silently for a minute or more. */
const STREAM_STALL_TIMEOUT_MS = 120_000;

/**
 * From the last event of an answer with a stop reason to the end of its stream: usage follows within milliseconds. Some
 * gateways never end the stream and keep the connection open.
 */
export const FINISHED_GRACE_MS = 3_000;

/** Timeouts of a call's silence, and the clock that measures them. */
export type StreamLimits = { clock: Clock; startupTimeoutMs: number; stallTimeoutMs: number };

/** The limits in production. */
export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  clock: systemClock,
  startupTimeoutMs: STARTUP_TIMEOUT_MS,
  stallTimeoutMs: STREAM_STALL_TIMEOUT_MS,
};

/** The vendor was silent for too long: before its first event, or between two. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";

  constructor(
    readonly phase: "startup" | "stream",
    readonly afterMs: number,
  ) {
    super(`no event for ${afterMs} ms (${phase})`);
  }
}

/** Settled by a step of the source, an abort, or a timeout, whichever comes first. */
type Waiter = { end(): void; fail(error: unknown): void };

/**
 * Iterator over a stream that it opens with the first `next()`. Throws `SilenceError` when the vendor is silent for too
 * long, and whatever `open` or the stream throws; ends at once, without an error, when `signal` is or becomes aborted.
 * Time between two reads does not count. Aborts the stream, except when it has ended, or when the consumer returns
 * after an event: the rest is then drained. One read at a time.
 * States: new → open → over. Not a generator, which would create half a dozen promises for each event.
 */
export class WatchedStream<Event> implements AsyncIterableIterator<Event, undefined> {
  readonly #controller = new AbortController();
  #silence: SilenceTimer | undefined;
  #events: AsyncIterator<Event> | undefined;
  #isOver = false;

  constructor(
    private readonly open: (signal: AbortSignal) => Promise<AsyncIterable<Event>>,
    private readonly signal: AbortSignal,
    private readonly limits: StreamLimits,
  ) {}

  async next(): Promise<IteratorResult<Event, undefined>> {
    if (this.#isOver || this.signal.aborted) return this.#end(false);
    try {
      const silence = (this.#silence ??= this.#begin());
      if (this.#events === undefined) {
        const source = await silence.wait(() => this.open(this.#controller.signal));
        if (source === undefined || this.signal.aborted) return this.#end(false);
        this.#events = source[Symbol.asyncIterator]();
      }
      const events = this.#events;
      const step = await silence.wait(() => events.next());
      if (step === undefined || step.done === true || this.signal.aborted)
        return this.#end(step?.done === true);
      silence.sawEvent();
      return step;
    } catch (error) {
      this.#end(false);
      throw error;
    }
  }

  /** The answer is complete: from now on a silence of `FINISHED_GRACE_MS` is the end, not a failure. */
  expectEnd(): void {
    this.#silence?.expectEnd();
  }

  /** Called when the consumer stops iterating after an event. */
  return(): Promise<IteratorResult<Event, undefined>> {
    if (this.#isOver || this.signal.aborted || !this.#events) return Promise.resolve(this.#end(false));
    void drainSource(this.#events, this.#controller, this.limits.clock);
    return Promise.resolve(this.#end(true));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #begin(): SilenceTimer {
    this.signal.addEventListener("abort", this.#stop, { once: true });
    return startSilenceTimer(this.limits);
  }

  readonly #stop = () => {
    this.#silence?.endWait();
    this.#controller.abort();
  };

  /** `isEnding`: the source has ended by itself or is about to; otherwise it is aborted. */
  #end(isEnding: boolean): IteratorReturnResult<undefined> {
    if (this.#isOver) return OVER;
    this.#isOver = true;
    this.#silence?.close();
    this.signal.removeEventListener("abort", this.#stop);
    if (!isEnding) {
      this.#controller.abort();
      // Not awaited: it would wait for a read that may never settle. A rejection is caused by our abort.
      this.#events?.return?.().catch(() => undefined);
    }
    return OVER;
  }
}

const OVER: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** For a source to end by itself after its reader is done; its last packet is in flight. */
const END_LIMIT_MS = 1_000;

/**
 * Reads the rest of a source that is about to end, so that its connection can be reused: an abort would close it, and
 * each call would start with a new TLS handshake. Never rejects.
 */
async function drainSource<Event>(
  source: AsyncIterator<Event>,
  controller: AbortController,
  clock: Clock,
): Promise<void> {
  const cancel = clock.after(END_LIMIT_MS, () => controller.abort());
  try {
    while ((await source.next()).done !== true);
  } catch {
    // The answer is complete; a failure of its connection does not matter.
  } finally {
    cancel();
  }
}

type SilenceTimer = ReturnType<typeof startSilenceTimer>;

/**
 * One timer for a whole call: it checks how long the current wait has lasted and re-arms itself for the rest, which is
 * far cheaper than a timer for each event.
 */
function startSilenceTimer({ clock, startupTimeoutMs, stallTimeoutMs }: StreamLimits) {
  const limits = { startup: startupTimeoutMs, stream: stallTimeoutMs, end: FINISHED_GRACE_MS };
  let phase: keyof typeof limits = "startup";
  let waitingSince = clock.now();
  let waiter: Waiter | undefined;
  let cancelTimer = clock.after(startupTimeoutMs, check);

  function check() {
    const limit = limits[phase];
    const silentFor = waiter === undefined ? 0 : clock.now() - waitingSince;
    if (waiter !== undefined && silentFor >= limit)
      return phase === "end" ? waiter.end() : waiter.fail(new SilenceError(phase, limit));
    cancelTimer = clock.after(limit - silentFor, check);
  }

  function begin(next: "stream" | "end") {
    phase = next;
    cancelTimer();
    cancelTimer = clock.after(limits[next], check);
  }

  return {
    /** Runs one step under the timer; undefined when `endWait` came first. */
    wait<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
      if (phase !== "startup") waitingSince = clock.now();
      return new Promise((resolve, reject) => {
        waiter = { end: () => resolve(undefined), fail: reject };
        step().then(
          (result) => {
            waiter = undefined;
            resolve(result);
          },
          (error: unknown) => {
            waiter = undefined;
            reject(error);
          },
        );
      });
    },
    endWait: () => waiter?.end(),
    sawEvent() {
      if (phase === "startup") begin("stream");
    },
    expectEnd() {
      if (phase !== "end") begin("end");
    },
    close() {
      cancelTimer();
      waiter = undefined;
    },
  };
}
