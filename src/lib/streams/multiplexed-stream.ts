/**
 * One of the byte streams that share a WebSocket (`byte-streams.ts`), with flow control by credit: writes wait for the
 * other end's credit; received bytes are buffered for the reader, and credit is returned as they are read.
 */
import { Duplex } from "node:stream";

/** Bytes in flight or waiting for the reader: at a round trip of 100 ms still 20 Mbit/s. */
export const WINDOW_BYTES = 256 * 1024;
/** A large write is sent in chunks of at most this, so that other streams get their turn between them. */
export const MAX_CHUNK_BYTES = 64 * 1024;
/** Credit is returned in halves of the window: a message for each small read would double the traffic. */
const CREDIT_STEP_BYTES = WINDOW_BYTES / 2;

type Callback = (error?: Error | null) => void;

/** Sends the stream's frames to the other end. */
export type FrameSender = {
  /** `sent` is called when the connection has taken the chunk, or with an error. */
  data(chunk: Buffer, sent: Callback): void;
  end(): void;
  reset(): void;
  credit(bytes: number): void;
  /** The stream is destroyed and sends nothing more; called once. */
  closed(): void;
};

export class MultiplexedStream extends Duplex {
  readonly #sender: FrameSender;
  /** Bytes that this end may still send. */
  #credit = WINDOW_BYTES;
  /** Resumes a write that waits for credit. */
  #resumeWrite: (() => void) | null = null;
  /** Received and not read yet; null is the end. */
  readonly #received: (Buffer | null)[] = [];
  /** Bytes that the other end may still send. */
  #window = WINDOW_BYTES;
  #owedCredit = 0;
  #isReadWanted = false;
  #isReset = false;

  constructor(sender: FrameSender) {
    super({ allowHalfOpen: true });
    this.#sender = sender;
  }

  // ── from the other end ───────────────────────────────────────────────────

  /** False when the other end sent more than it had credit for, which violates the protocol. */
  receive(bytes: Buffer): boolean {
    this.#window -= bytes.length;
    if (this.#window < 0) return false;
    this.#received.push(bytes);
    this.#pushReceived();
    return true;
  }

  receiveEnd(): void {
    this.#received.push(null);
    this.#pushReceived();
  }

  receiveCredit(bytes: number): void {
    this.#credit += bytes;
    const resume = this.#resumeWrite;
    this.#resumeWrite = null;
    resume?.();
  }

  /** The other end reset the stream, or the connection is lost: destroys it without sending a reset. */
  abort(reason: Error): void {
    this.#isReset = true;
    this.destroy(reason);
  }

  // ── Duplex ───────────────────────────────────────────────────────────────

  override _read(): void {
    this.#isReadWanted = true;
    this.#pushReceived();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#send(chunk, callback);
  }

  override _final(callback: Callback): void {
    this.#sender.end();
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    const isOver = this.readableEnded && this.writableFinished;
    if (!isOver && !this.#isReset) this.#sender.reset();
    this.#received.length = 0;
    this.#resumeWrite = null;
    this.#sender.closed();
    callback(error);
  }

  #pushReceived(): void {
    while (this.#isReadWanted && this.#received.length > 0) {
      const bytes = this.#received.shift() ?? null;
      this.#isReadWanted = this.push(bytes);
      if (bytes !== null) this.#returnCredit(bytes.length);
    }
  }

  #returnCredit(bytes: number): void {
    this.#owedCredit += bytes;
    if (this.#owedCredit < CREDIT_STEP_BYTES) return;
    this.#window += this.#owedCredit;
    this.#sender.credit(this.#owedCredit);
    this.#owedCredit = 0;
  }

  #send(rest: Buffer, callback: Callback): void {
    if (rest.length === 0) return callback();
    const length = Math.min(rest.length, this.#credit, MAX_CHUNK_BYTES);
    if (length === 0) {
      this.#resumeWrite = () => this.#send(rest, callback);
      return;
    }
    this.#credit -= length;
    this.#sender.data(rest.subarray(0, length), (error) => {
      if (error) return callback(error);
      this.#send(rest.subarray(length), callback);
    });
  }
}
