/**
 * One model call, shared by all adapters: opens the stream under the watchdog, converts its events into stream parts,
 * ends quietly on abort, and turns each failure into a `ModelCallError`.
 */
import { STREAM_CUT_TEXT, StreamFailure, toModelCallError } from "./errors.js";
import type { ModelStreamPart, ProviderSettings } from "../types.js";
import { type StreamLimits, WatchedStream } from "./watchdog.js";

/** Converter of one vendor's events. Stateful: create one for each call. */
export type EventReader<Event> = {
  /** The parts that this event completes. Throws `StreamFailure` when the vendor reports one. */
  read(event: Event): ModelStreamPart[];
  /** The vendor has sent the stop reason; only usage and the end of the stream may follow. */
  isFinished(): boolean;
  /** The remaining parts when the stream has ended by itself; without a `finish` by then, the answer was cut. */
  end(): ModelStreamPart[];
};

export type CallSettings = { settings: ProviderSettings; limits: StreamLimits; signal: AbortSignal };

export type PreparedCall<Event> = {
  open(signal: AbortSignal): Promise<AsyncIterable<Event>>;
  reader: EventReader<Event>;
};

/**
 * Runs one call. Yields exactly one `finish`, last, or throws; on abort it just ends. `prepare` is called with the
 * first read, and throws `ModelCallError` for what is refused before anything is sent. An answer with a stop reason is
 * complete however its stream ends: it is billed, and a retry would be billed again.
 */
export async function* runModelCall<Event>(
  { settings, limits, signal }: CallSettings,
  prepare: () => PreparedCall<Event>,
): AsyncGenerator<ModelStreamPart, void, undefined> {
  const { open, reader } = prepare();
  const stream = new WatchedStream(open, signal, limits);
  try {
    for await (const event of stream) {
      for (const part of reader.read(event)) {
        if (signal.aborted) return;
        yield part;
        if (part.type === "finish") return;
      }
      if (reader.isFinished()) stream.expectEnd();
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!reader.isFinished()) throw toModelCallError(error, settings, limits.clock.now());
  }
  if (signal.aborted) return;
  for (const part of reader.end()) {
    yield part;
    if (part.type === "finish") return;
  }
  throw toModelCallError(new StreamFailure("econnreset", STREAM_CUT_TEXT), settings, limits.clock.now());
}
