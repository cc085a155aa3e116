/**
 * One byte stream of many over one WebSocket (`byte-streams.ts`). What it sends waits for the other end's credit; what
 * it receives waits here for its reader, and gives credit back as it is taken. Its end lets it go.
 */
import { Duplex } from "node:stream";

/** Bytes that may be under way, or wait for the reader: at 100 ms there and back still 20 Mbit/s. */
export const WINDOW_BYTES = 256 * 1024;
/** A large write is sent in such pieces, so that other streams get their turn between them. */
export const MAX_PIECE_BYTES = 64 * 1024;
/** Credit is given back in halves: a message for each small read would be as much traffic again. */
const CREDIT_STEP_BYTES = WINDOW_BYTES / 2;

type Done = (error?: Error | null) => void;

/** How a stream speaks to the other end. `data` calls back when the connection has taken the piece. */
export type Carrier = {
  data(piece: Buffer, taken: Done): void;
  end(): void;
  reset(): void;
  credit(bytes: number): void;
  /** The stream is over; called once. */
  forget(): void;
};

export class MultiplexedStream extends Duplex {
  readonly #carrier: Carrier;
  /** Bytes that we may still send. */
  #credit = WINDOW_BYTES;
  /** Goes on with a write that waits for credit. */
  #goOn: (() => void) | null = null;
  /** Came and was not taken yet; null is the end. */
  readonly #arrived: (Buffer | null)[] = [];
  /** Bytes that the other end may still send. */
  #window = WINDOW_BYTES;
  #owedCredit = 0;
  #isWanted = false;
  #isReset = false;

  constructor(carrier: Carrier) {
    super({ allowHalfOpen: true });
    this.#carrier = carrier;
  }

  // ── from the other end ───────────────────────────────────────────────────

  /** False when the other end sent more than it had credit for: it does not keep the rules. */
  arrive(bytes: Buffer): boolean {
    this.#window -= bytes.length;
    if (this.#window < 0) return false;
    this.#arrived.push(bytes);
    this.#handOver();
    return true;
  }

  arriveEnd(): void {
    this.#arrived.push(null);
    this.#handOver();
  }

  arriveCredit(bytes: number): void {
    this.#credit += bytes;
    const goOn = this.#goOn;
    this.#goOn = null;
    goOn?.();
  }

  /** The other end broke it off, or the connection is gone: nothing needs to be told. */
  breakOff(reason: Error): void {
    this.#isReset = true;
    this.destroy(reason);
  }

  // ── what a Duplex must do ────────────────────────────────────────────────

  override _read(): void {
    this.#isWanted = true;
    this.#handOver();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#send(chunk, done);
  }

  override _final(done: Done): void {
    this.#carrier.end();
    done();
  }

  override _destroy(error: Error | null, done: Done): void {
    const isOver = this.readableEnded && this.writableFinished;
    if (!isOver && !this.#isReset) this.#carrier.reset();
    this.#arrived.length = 0;
    this.#goOn = null;
    this.#carrier.forget();
    done(error);
  }

  #handOver(): void {
    while (this.#isWanted && this.#arrived.length > 0) {
      const bytes = this.#arrived.shift() ?? null;
      this.#isWanted = this.push(bytes);
      if (bytes !== null) this.#giveBack(bytes.length);
    }
  }

  #giveBack(bytes: number): void {
    this.#owedCredit += bytes;
    if (this.#owedCredit < CREDIT_STEP_BYTES) return;
    this.#window += this.#owedCredit;
    this.#carrier.credit(this.#owedCredit);
    this.#owedCredit = 0;
  }

  #send(rest: Buffer, done: Done): void {
    if (rest.length === 0) return done();
    const length = Math.min(rest.length, this.#credit, MAX_PIECE_BYTES);
    if (length === 0) {
      this.#goOn = () => this.#send(rest, done);
      return;
    }
    this.#credit -= length;
    this.#carrier.data(rest.subarray(0, length), (error) => {
      if (error) return done(error);
      this.#send(rest.subarray(length), done);
    });
  }
}
