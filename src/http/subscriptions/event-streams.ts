/**
 * Backpressure for event streams: executes events at the pace at which the client takes the results. graphql-sse would
 * execute them as fast as they come and buffer the results; here the events of a slow client wait in the hub's bounded
 * queue.
 */
import type { ExecutionResult } from "graphql";
import type { ErrorMask } from "../graphql/errors.js";
import type { ResponseStream } from "./response-stream.js";

/** Delivery progress of one client: results made, and results that the response has taken. */
export class DeliveryPace {
  #made = 0;
  #taken = 0;
  #parts = 0;
  #proceed: (() => void) | null = null;
  #isEnded = false;

  /** Chunks of the response that were taken, results and others. */
  get parts(): number {
    return this.#parts;
  }

  made(): void {
    this.#made += 1;
  }

  took(isResult: boolean): void {
    this.#parts += 1;
    if (isResult) this.#taken += 1;
    if (this.#taken >= this.#made) this.#go();
  }

  /** Ends the waiting: the response is closed. */
  end(): void {
    this.#isEnded = true;
    this.#go();
  }

  /** Resolves when all results have been taken. */
  async caughtUp(): Promise<void> {
    if (this.#isEnded || this.#taken >= this.#made) return;
    await new Promise<void>((resolve) => (this.#proceed = resolve));
  }

  #go(): void {
    this.#proceed?.();
    this.#proceed = null;
  }
}

/** A subscription's results with masked errors. A failure becomes the last result: the protocol has no other way. */
export class PacedResults implements AsyncIterableIterator<ExecutionResult> {
  constructor(
    private readonly stream: ResponseStream,
    private readonly pace: DeliveryPace,
    private readonly masked: (result: ExecutionResult) => ExecutionResult,
    private readonly toFailure: (failure: unknown) => ExecutionResult,
  ) {}

  async next(): Promise<IteratorResult<ExecutionResult>> {
    await this.pace.caughtUp();
    try {
      const { value, done } = await this.stream.next();
      if (done) return { value: undefined, done: true };
      this.pace.made();
      return { value: this.masked(value as ExecutionResult), done: false };
    } catch (failure) {
      this.pace.made();
      // The stream ended with its failure, as the next call will report.
      return { value: this.toFailure(failure), done: false };
    }
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    this.pace.end();
    await this.stream.return();
    return { value: undefined, done: true };
  }

  /** graphql-sse only ends streams that have this method. */
  async throw(failure: unknown): Promise<IteratorResult<ExecutionResult>> {
    await this.return();
    throw failure;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** The result with its errors as clients may see them. */
export function maskResult(result: ExecutionResult, mask: ErrorMask): ExecutionResult {
  // Masked errors are serialized like errors.
  return result.errors ? { ...result, errors: result.errors.map(mask) as never } : result;
}
