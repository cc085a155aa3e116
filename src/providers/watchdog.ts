/**
 * Guards the silence of a vendor's stream: the SDKs' own timeouts do not cover a body that stops talking, so each
 * call runs under this watchdog. It owns the call's AbortController; nothing outlives the iteration.
 */
import { type Clock, systemClock } from "../lib/clock.js";

/** From the request to the vendor's first event. Sixty seconds covers a cold model behind a queue. */
export const STARTUP_TIMEOUT_MS = 60_000;
/** Between two events. Vendors may think silently for a minute or more before they go on. */
export const STREAM_STALL_TIMEOUT_MS = 120_000;

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
 * Opens a stream and passes its events on. Throws `SilenceError` when the vendor is silent for too long and
 * whatever `open` or the stream throws; ends without an error, at once, when `signal` is or becomes aborted.
 * Time that the consumer spends between two reads does not count. The stream is told to stop,
 * except when it has ended or when the consumer leaves with an event in hand: then its rest may still be read.
 */
export async function* watchStream<Event>(
  open: (signal: AbortSignal) => Promise<AsyncIterable<Event>>,
  signal: AbortSignal,
  limits: StreamLimits,
): AsyncGenerator<Event, void, undefined> {
  if (signal.aborted) return;
  const controller = new AbortController();
  const silence = startSilenceTimer(limits);
  const stop = () => {
    silence.endWait();
    controller.abort();
  };
  signal.addEventListener("abort", stop, { once: true });
  let iterator: AsyncIterator<Event> | undefined;
  /** The source has ended by itself. */
  let isOver = false;
  /** The reader has an event in hand; if it comes to an end now, it wanted no more. */
  let isLeft = false;
  try {
    const source = await silence.wait(() => open(controller.signal));
    if (source === undefined || signal.aborted) return;
    iterator = source[Symbol.asyncIterator]();
    const events = iterator;
    for (;;) {
      const step = await silence.wait(() => events.next());
      if (step?.done === true) isOver = true;
      if (step === undefined || step.done === true || signal.aborted) return;
      silence.sawEvent();
      isLeft = true;
      yield step.value;
      isLeft = false;
    }
  } finally {
    silence.close();
    signal.removeEventListener("abort", stop);
    if (iterator && isLeft && !signal.aborted) void letEnd(iterator, controller, limits.clock);
    else if (!isOver) {
      controller.abort();
      // Not awaited: it would queue behind a read that may never settle. What it rejects with was caused by our abort.
      iterator?.return?.().catch(() => undefined);
    }
  }
}

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

/**
 * One timer for a whole call: it looks how long the present wait has lasted and re-arms itself for the rest,
 * which is far cheaper than a timer per event.
 */
function startSilenceTimer({ clock, startupTimeoutMs, stallTimeoutMs }: StreamLimits) {
  let phase: "startup" | "stream" = "startup";
  let waitingSince = clock.now();
  let waiter: Waiter | undefined;
  let cancelTimer = clock.after(startupTimeoutMs, look);

  function look() {
    const limit = phase === "startup" ? startupTimeoutMs : stallTimeoutMs;
    const silentFor = waiter === undefined ? 0 : clock.now() - waitingSince;
    if (waiter !== undefined && silentFor >= limit) return waiter.fail(new SilenceError(phase, limit));
    cancelTimer = clock.after(limit - silentFor, look);
  }

  return {
    /** Runs one step under the timer; undefined when `endWait` came first. */
    wait<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
      if (phase === "stream") waitingSince = clock.now();
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
      if (phase === "stream") return;
      phase = "stream";
      cancelTimer();
      cancelTimer = clock.after(stallTimeoutMs, look);
    },
    close() {
      cancelTimer();
      waiter = undefined;
    },
  };
}
