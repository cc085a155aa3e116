/**
 * The results of a subscription, one per event of its source. `return()` reaches the source immediately, also while
 * `next()` waits.
 */
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
} from "graphql";
import { type Audience, SubscriptionSource } from "../../domain/common/subscription-source.js";
import type { ByteReservation } from "../../lib/streams/byte-budget.js";
import type { EventResult } from "./event-result.js";
import { type OutputQueue, SMALL_RESULT_BYTES } from "./output-queue.js";

/** Executes one event for the stream's subscriber. */
type ResultOf = (event: object, audience: Audience) => EventResult | Promise<EventResult>;

/** Calls `onEnd` exactly once: at the source's end, failure, `return()` or `refuse()`. */
export class ResponseStream implements AsyncIterableIterator<EventResult> {
  #hasEnded = false;
  /** Thrown by the first `next()` after the end. */
  #refusal: GraphQLError | null = null;
  /** Reservation for the last result of `next()`, until the caller takes it over. */
  #reservation: ByteReservation | null = null;

  constructor(
    private readonly source: SubscriptionSource<object, object>,
    private readonly dependencies: ResponseStreamDependencies,
  ) {}

  async next(): Promise<IteratorResult<EventResult>> {
    if (this.#hasEnded) return this.#over();
    try {
      const event = await this.source.next();
      if (event.done || this.#hasEnded) return this.#over();
      // While the client does not read, this event waits unexecuted, and later ones wait in the source's bounded queue.
      const whenReady = this.dependencies.output.ready();
      if (whenReady) await whenReady;
      if (this.#hasEnded) return this.#over();
      const audience = this.source.audienceOf(event.value);
      let result: EventResult | Promise<EventResult> | null = this.dependencies.resultOf(
        event.value,
        audience,
      );
      if (result instanceof Promise) result = await result;
      if (result.bytes > SMALL_RESULT_BYTES && !this.#tryReserve(result.bytes)) {
        const { bytes } = result;
        // Drops the result while it does not fit; the event takes less memory.
        result = null;
        result = await this.#executeWithReservation(bytes, event.value);
      }
      // The subscriber may have left during the execution.
      return this.#hasEnded ? this.#over() : { value: result, done: false };
    } catch (failure) {
      await this.return();
      throw failure;
    }
  }

  async return(): Promise<IteratorResult<EventResult>> {
    if (this.#hasEnded) return { value: undefined, done: true };
    this.#end();
    await this.source.return();
    return { value: undefined, done: true };
  }

  /** Ends the stream with this error, which its reader gets instead of the next result. */
  async refuse(error: GraphQLError): Promise<void> {
    if (this.#hasEnded) return;
    this.#refusal = error;
    await this.return();
  }

  /** Whether the subscriber may continue to read, checked again with this context. */
  mayContinue(context: object): Promise<boolean> {
    return this.source.mayContinue(context);
  }

  /** Hands over the reservation for the last result; the caller releases it when the client has the result. */
  takeReservation(): ByteReservation | null {
    const reservation = this.#reservation;
    this.#reservation = null;
    return reservation;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #tryReserve(bytes: number): boolean {
    this.#reservation = this.dependencies.output.tryReserve(bytes);
    return this.#reservation !== null;
  }

  /** Executes the event again once as many bytes fit as its result had before; it may have more by then. */
  async #executeWithReservation(bytes: number, event: object): Promise<EventResult> {
    const reservation = await this.dependencies.output.reserve(bytes);
    const result = await this.dependencies.resultOf(event, this.source.audienceOf(event));
    if (this.#hasEnded) reservation.release();
    else {
      reservation.force(result.bytes);
      this.#reservation = reservation;
    }
    return result;
  }

  #over(): IteratorResult<EventResult> {
    this.#end();
    const refusal = this.#refusal;
    this.#refusal = null;
    if (refusal) throw refusal;
    return { value: undefined, done: true };
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.takeReservation()?.release();
    this.dependencies.onEnd();
  }
}

export type ResponseStreamDependencies = {
  resultOf: ResultOf;
  /** The connection's output. */
  output: OutputQueue;
  onEnd: () => void;
};

export type OpenStreamDependencies = ResponseStreamDependencies & {
  /** The context in which the source is opened. */
  createContext: () => object;
};

/**
 * Opens the source and streams the results of its events. Returns a result with errors instead of a stream when the
 * source cannot be opened; `onEnd` has been called then.
 */
export async function openResponseStream(
  args: ExecutionArgs,
  { createContext, ...dependencies }: OpenStreamDependencies,
): Promise<ResponseStream | ExecutionResult> {
  try {
    const source = await createSourceEventStream({ ...args, contextValue: createContext() });
    if (source instanceof SubscriptionSource) return new ResponseStream(source, dependencies);
    if (Symbol.asyncIterator in source) {
      await source[Symbol.asyncIterator]().return?.();
      throw new Error("A subscription's resolver must return a SubscriptionSource.");
    }
    dependencies.onEnd();
    return source;
  } catch (failure) {
    dependencies.onEnd();
    throw failure;
  }
}
