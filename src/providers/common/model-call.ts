/**
 * What every adapter does around its vendor: open the stream under the watchdog, read its events into our parts,
 * end quietly on abort, and make each failure a `ModelCallError`.
 */
import { STREAM_CUT_TEXT, StreamFailure, toModelCallError } from "./errors.js";
import type { ModelStreamPart, ProviderSettings } from "../types.js";
import { type StreamLimits, WatchedStream } from "./watchdog.js";

/** Reads one vendor's events. Keeps what it needs of one call; a new one is made for each. */
export type EventReader<Event> = {
  /** The parts that this event completes. Throws `StreamFailure` when the vendor reports one. */
  read(event: Event): ModelStreamPart[];
  /** The vendor has told why it stopped: what may still come is usage and the end of the stream. */
  isFinished(): boolean;
  /** What is left when the stream has ended by itself; without a `finish` in it or before it the answer was cut. */
  end(): ModelStreamPart[];
};

export type CallSettings = { settings: ProviderSettings; limits: StreamLimits; signal: AbortSignal };

export type PreparedCall<Event> = {
  open(signal: AbortSignal): Promise<AsyncIterable<Event>>;
  reader: EventReader<Event>;
};

/**
 * Runs one call. Yields exactly one `finish`, last, or throws; on abort it just ends. `prepare` is called when the parts
 * are first asked for, and throws `ModelCallError` for what is refused before anything is sent. An answer whose vendor has
 * told why it stopped is complete, however its stream ends: it is paid for, and asking again would be paid twice.
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
