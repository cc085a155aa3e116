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
import { type Audience, SubscriptionSource } from "../domain/subscription-source.js";
import type { Answer } from "./answer.js";

/** Answers one event for the stream's subscriber. */
type AnswerOf = (event: object, audience: Audience) => Answer | Promise<Answer>;

/** Answers of one subscription. Calls `onEnd` exactly once: at the source's end, failure, `return()` or `refuse()`. */
export class ResponseStream implements AsyncIterableIterator<Answer> {
  #hasEnded = false;
  /** Told by the `next()` that comes first after the end. */
  #refusal: GraphQLError | null = null;

  constructor(
    private readonly source: SubscriptionSource<object, object>,
    private readonly answer: AnswerOf,
    private readonly onEnd: () => void,
  ) {}

  async next(): Promise<IteratorResult<Answer>> {
    if (this.#hasEnded) return this.#over();
    try {
      const event = await this.source.next();
      if (event.done || this.#hasEnded) return this.#over();
      const made = this.answer(event.value, this.source.audienceOf(event.value));
      const value = made instanceof Promise ? await made : made;
      // Whoever has left while the answer was made gets nothing more.
      return this.#hasEnded ? this.#over() : { value, done: false };
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

  /** Whether the subscriber may go on reading, decided anew with this context. */
  mayContinue(context: object): Promise<boolean> {
    return this.source.mayContinue(context);
  }

  [Symbol.asyncIterator](): this {
    return this;
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
    this.onEnd();
  }
}

export type StreamParts = {
  /** The context in which the source is opened. */
  createContext: () => object;
  answer: AnswerOf;
  onEnd: () => void;
};

/**
 * Opens the source and answers its events; a result instead of a stream when the source cannot be opened (then
 * `onEnd` has been called).
 */
export async function openResponseStream(
  args: ExecutionArgs,
  { createContext, answer, onEnd }: StreamParts,
): Promise<ResponseStream | ExecutionResult> {
  try {
    const source = await createSourceEventStream({ ...args, contextValue: createContext() });
    if (source instanceof SubscriptionSource) return new ResponseStream(source, answer, onEnd);
    if (Symbol.asyncIterator in source) {
      await source[Symbol.asyncIterator]().return?.();
      throw new Error("A subscription's resolver must return a SubscriptionSource.");
    }
    onEnd();
    return source;
  } catch (failure) {
    onEnd();
    throw failure;
  }
}
