/**
 * A subscription's answers, one for each event of its source. `return()` reaches the source at once, also while
 * `next()` waits.
 */
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
} from "graphql";
import { type Audience, SubscriptionSource } from "../../domain/common/subscription-source.js";
import type { ByteHold } from "../../lib/streams/byte-accounts.js";
import type { Answer } from "./answer.js";
import { type Outlet, SMALL_ANSWER_BYTES } from "./outlet.js";

/** Answers one event for the stream's subscriber. */
type AnswerOf = (event: object, audience: Audience) => Answer | Promise<Answer>;

/** Answers of one subscription. Calls `onEnd` exactly once: at the source's end, failure, `return()` or `refuse()`. */
export class ResponseStream implements AsyncIterableIterator<Answer> {
  #hasEnded = false;
  /** Told by the `next()` that comes first after the end. */
  #refusal: GraphQLError | null = null;
  /** Room for the answer that `next()` gave last, until the caller takes it over. */
  #hold: ByteHold | null = null;

  constructor(
    private readonly source: SubscriptionSource<object, object>,
    private readonly parts: StreamParts,
  ) {}

  async next(): Promise<IteratorResult<Answer>> {
    if (this.#hasEnded) return this.#over();
    try {
      const event = await this.source.next();
      if (event.done || this.#hasEnded) return this.#over();
      // Behind a client that does not read the event waits as it is, and those after it in the source's bounded queue.
      const whenReady = this.parts.outlet.ready();
      if (whenReady) await whenReady;
      if (this.#hasEnded) return this.#over();
      const audience = this.source.audienceOf(event.value);
      let made: Answer | Promise<Answer> | null = this.parts.answer(event.value, audience);
      if (made instanceof Promise) made = await made;
      if (made.bytes > SMALL_ANSWER_BYTES && !this.#takeRoom(made.bytes)) {
        const { bytes } = made;
        // While there is no room for it, the event is kept instead, which takes less.
        made = null;
        made = await this.#makeWithRoom(bytes, event.value);
      }
      // Whoever has left while the answer was made gets nothing more.
      return this.#hasEnded ? this.#over() : { value: made, done: false };
    } catch (failure) {
      await this.return();
      throw failure;
    }
  }

  async return(): Promise<IteratorResult<Answer>> {
    if (this.#hasEnded) return { value: undefined, done: true };
    this.#end();
    await this.source.return();
    return { value: undefined, done: true };
  }

  /** Ends the stream with this error, which its reader gets in place of the next answer. */
  async refuse(error: GraphQLError): Promise<void> {
    if (this.#hasEnded) return;
    this.#refusal = error;
    await this.return();
  }

  /** Whether the subscriber may go on reading, decided again with this context. */
  mayContinue(context: object): Promise<boolean> {
    return this.source.mayContinue(context);
  }

  /** Room that the last answer takes; the caller releases it when the client has the answer. */
  takeHold(): ByteHold | null {
    const hold = this.#hold;
    this.#hold = null;
    return hold;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeRoom(bytes: number): boolean {
    this.#hold = this.parts.outlet.hold(bytes);
    return this.#hold !== null;
  }

  /** Makes the answer once there is room for as many bytes as it had before; it may have more by then. */
  async #makeWithRoom(bytes: number, event: object): Promise<Answer> {
    const hold = await this.parts.outlet.waitFor(bytes);
    const made = await this.parts.answer(event, this.source.audienceOf(event));
    if (this.#hasEnded) hold.release();
    else {
      hold.force(made.bytes);
      this.#hold = hold;
    }
    return made;
  }

  #over(): IteratorResult<Answer> {
    this.#end();
    const refusal = this.#refusal;
    this.#refusal = null;
    if (refusal) throw refusal;
    return { value: undefined, done: true };
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.takeHold()?.release();
    this.parts.onEnd();
  }
}

export type StreamParts = {
  answer: AnswerOf;
  /** Where the answers go. */
  outlet: Outlet;
  onEnd: () => void;
};

export type OpeningParts = StreamParts & {
  /** The context in which the source is opened. */
  createContext: () => object;
};

/**
 * Opens the source and answers its events; a result instead of a stream when the source cannot be opened (then
 * `onEnd` has been called).
 */
export async function openResponseStream(
  args: ExecutionArgs,
  { createContext, ...parts }: OpeningParts,
): Promise<ResponseStream | ExecutionResult> {
  try {
    const source = await createSourceEventStream({ ...args, contextValue: createContext() });
    if (source instanceof SubscriptionSource) return new ResponseStream(source, parts);
    if (Symbol.asyncIterator in source) {
      await source[Symbol.asyncIterator]().return?.();
      throw new Error("A subscription's resolver must return a SubscriptionSource.");
    }
    parts.onEnd();
    return source;
  } catch (failure) {
    parts.onEnd();
    throw failure;
  }
}
