/**
 * A subscription's answers on their way into a socket. graphql-ws would write each answer's JSON anew for each
 * subscriber; here the JSON that all of them share is put into a frame with the subscriber's own operation id. To
 * graphql-ws the stream looks like one without answers: it is left to say when the subscription is over.
 */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Answer } from "./answer.js";
import { MAX_WAITING_BYTES } from "./outlet.js";
import type { ResponseStream } from "./response-stream.js";

/** Where the frames go: a socket, what it writes to, and the operation's id there. */
export type FrameTarget = { socket: WebSocket; transport: Duplex; id: string };

/** Sends everything that the answers give; ends when they end, fails when they fail. */
export class FrameStream implements AsyncIterableIterator<never> {
  readonly #head: string;

  constructor(
    private readonly answers: ResponseStream,
    private readonly target: FrameTarget,
  ) {
    this.#head = `{"id":${JSON.stringify(target.id)},"type":"next","payload":`;
  }

  async next(): Promise<IteratorResult<never>> {
    for (;;) {
      const { value, done } = await this.answers.next();
      if (done) return { value: undefined, done: true };
      // Awaiting what is seldom there would cost each frame a turn of the queue.
      const sent = this.#send(value);
      if (sent) await sent;
    }
  }

  async return(): Promise<IteratorResult<never>> {
    await this.answers.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Waits only behind a client that reads too slowly, and until a large answer is on its way. */
  #send(answer: Answer): Promise<void> | undefined {
    const { socket, transport } = this.target;
    const hold = this.answers.takeHold();
    if (socket.readyState !== socket.OPEN) {
      hold?.release();
      return undefined;
    }
    gather(transport);
    const frame = `${this.#head}${answer.json}}`;
    if (hold === null && socket.bufferedAmount <= MAX_WAITING_BYTES) {
      socket.send(frame);
      return undefined;
    }
    // A failed write is followed by the close event, which ends everything on this socket.
    return new Promise((resolve) =>
      socket.send(frame, () => {
        hold?.release();
        resolve();
      }),
    );
  }
}

/**
 * Everything that is sent before the event loop goes on leaves in one write: the more a subscriber has to be told at
 * once, because a turn ends or the server lags, the less each frame costs.
 */
function gather(transport: Duplex): void {
  if (transport.writableCorked > 0) return;
  transport.cork();
  process.nextTick(() => transport.uncork());
}
