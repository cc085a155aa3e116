/**
 * Writes a subscription's results into a WebSocket. graphql-ws would serialize each result again for each subscriber;
 * here the JSON that all of them share is put into a frame with the subscriber's own operation id. To graphql-ws the
 * stream looks like one without results: it only reports when the subscription ends.
 */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { EventResult } from "./event-result.js";
import { MAX_WAITING_BYTES } from "./output-queue.js";
import type { ResponseStream } from "./response-stream.js";

/** Destination of the frames: a WebSocket, its underlying stream, and the operation's id. */
export type FrameTarget = { socket: WebSocket; transport: Duplex; id: string };

/** Sends all results; ends when they end, fails when they fail. */
export class FrameStream implements AsyncIterableIterator<never> {
  readonly #head: string;

  constructor(
    private readonly results: ResponseStream,
    private readonly target: FrameTarget,
  ) {
    this.#head = `{"id":${JSON.stringify(target.id)},"type":"next","payload":`;
  }

  async next(): Promise<IteratorResult<never>> {
    for (;;) {
      const { value, done } = await this.results.next();
      if (done) return { value: undefined, done: true };
      // Mostly undefined; awaiting it would cost each frame a microtask.
      const sent = this.#send(value);
      if (sent) await sent;
    }
  }

  async return(): Promise<IteratorResult<never>> {
    await this.results.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Waits only for a client that reads too slowly, and until a large result is written. */
  #send(result: EventResult): Promise<void> | undefined {
    const { socket, transport } = this.target;
    const reservation = this.results.takeReservation();
    if (socket.readyState !== socket.OPEN) {
      reservation?.release();
      return undefined;
    }
    batchWrites(transport);
    const frame = `${this.#head}${result.json}}`;
    if (reservation === null && socket.bufferedAmount <= MAX_WAITING_BYTES) {
      socket.send(frame);
      return undefined;
    }
    // A failed write is followed by the close event, which ends everything on this socket.
    return new Promise((resolve) =>
      socket.send(frame, () => {
        reservation?.release();
        resolve();
      }),
    );
  }
}

/**
 * Batches everything sent in one turn of the event loop into one write: the more events a subscriber gets at once,
 * because a turn ends or the server lags, the less each frame costs.
 */
function batchWrites(transport: Duplex): void {
  if (transport.writableCorked > 0) return;
  transport.cork();
  process.nextTick(() => transport.uncork());
}
