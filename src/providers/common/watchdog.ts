/**
 * Guards the silence of a vendor's stream: the SDKs' own timeouts do not cover a body that stops talking, so each
 * call runs under this watchdog. It owns the call's AbortController; nothing outlives the iteration.
 */
import { type Clock, systemClock } from "../../lib/clock.js";

/** From the request to the vendor's first event. Sixty seconds covers a cold model behind a queue. */
export const STARTUP_TIMEOUT_MS = 60_000;
/** Between two events. Vendors may think silently for a minute or more before they go on. */
export const STREAM_STALL_TIMEOUT_MS = 120_000;

/**
 * From the last event of an answer that has told why it stopped to the end of its stream: usage follows within
 * milliseconds. Some gateways never send the end, and keep the connection open.
 */
export const FINISHED_GRACE_MS = 3_000;

/** How long a call may be silent, and whose clock says so. */
export type StreamLimits = { clock: Clock; startupTimeoutMs: number; stallTimeoutMs: number };

/** The limits of production. */
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

/** One step of the source, one abort, or one silence: whichever comes first settles it, the rest is ignored. */
type Waiter = { end(): void; fail(error: unknown): void };

/**
 * Opens a stream with its first `next()`, and passes its events on. Throws `SilenceError` when the vendor is silent for
 * too long and whatever `open` or the stream throws; ends without an error, at once, when `signal` is or becomes aborted.
 * Time that the consumer spends between two reads does not count. The stream is told to stop, except when it has ended
 * or when the consumer leaves with an event in hand: then its rest may still be read. One read at a time.
 * States: new → open → over. No generator, which would make half a dozen promises of each event.
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

  /** All that matters has been said: a silence of `FINISHED_GRACE_MS` is the end from now on, and no failure. */
  expectEnd(): void {
    this.#silence?.expectEnd();
  }

  /** The consumer has an event in hand and wants no more. */
  return(): Promise<IteratorResult<Event, undefined>> {
    if (this.#isOver || this.signal.aborted || !this.#events) return Promise.resolve(this.#end(false));
    void letEnd(this.#events, this.#controller, this.limits.clock);
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

  /** `isEnding`: the source has ended by itself or is about to; else it is told to stop. */
  #end(isEnding: boolean): IteratorReturnResult<undefined> {
    if (this.#isOver) return OVER;
    this.#isOver = true;
    this.#silence?.close();
    this.signal.removeEventListener("abort", this.#stop);
    if (!isEnding) {
      this.#controller.abort();
      // Not awaited: it would queue behind a read that may never settle. What it rejects with was caused by our abort.
      this.#events?.return?.().catch(() => undefined);
    }
    return OVER;
  }
}

const OVER: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** How long a source whose reader has seen enough may take to end by itself; its last packet is on its way. */
const END_LIMIT_MS = 1_000;

/**
 * Reads the rest of a source that is as good as over, so that its connection can serve the next call: an abort would
 * close it, and each call would begin with a new TLS handshake. Never rejects.
 */
async function letEnd<Event>(
  source: AsyncIterator<Event>,
  controller: AbortController,
  clock: Clock,
): Promise<void> {
  const cancel = clock.after(END_LIMIT_MS, () => controller.abort());
  try {
    while ((await source.next()).done !== true);
  } catch {
    // The answer was complete; how its connection ends is nobody's concern.
  } finally {
    cancel();
  }
}

type SilenceTimer = ReturnType<typeof startSilenceTimer>;

/**
 * One timer for a whole call: it looks how long the present wait has lasted and re-arms itself for the rest,
 * which is far cheaper than a timer per event.
 */
function startSilenceTimer({ clock, startupTimeoutMs, stallTimeoutMs }: StreamLimits) {
  const limits = { startup: startupTimeoutMs, stream: stallTimeoutMs, end: FINISHED_GRACE_MS };
  let phase: keyof typeof limits = "startup";
  let waitingSince = clock.now();
  let waiter: Waiter | undefined;
  let cancelTimer = clock.after(startupTimeoutMs, look);

  function look() {
    const limit = limits[phase];
    const silentFor = waiter === undefined ? 0 : clock.now() - waitingSince;
    if (waiter !== undefined && silentFor >= limit)
      return phase === "end" ? waiter.end() : waiter.fail(new SilenceError(phase, limit));
    cancelTimer = clock.after(limit - silentFor, look);
  }

  function begin(next: "stream" | "end") {
    phase = next;
    cancelTimer();
    cancelTimer = clock.after(limits[next], look);
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
