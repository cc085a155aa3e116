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
import type { Answer } from "./answer.js";

/** A source that can say again, while it is read, whether it may be. */
type GuardedSource = { mayGoOn(context: object): Promise<boolean> };

function isGuarded(source: object): source is GuardedSource {
  return "mayGoOn" in source && typeof source.mayGoOn === "function";
}

/** Answers of one subscription. Calls `onEnd` exactly once: at the source's end, failure, `return()` or `refuse()`. */
export class ResponseStream implements AsyncIterableIterator<Answer> {
  #hasEnded = false;
  /** Told by the `next()` that comes first after the end. */
  #refusal: GraphQLError | null = null;

  constructor(
    private readonly source: AsyncIterator<unknown>,
    private readonly answer: (event: unknown) => Answer | Promise<Answer>,
    private readonly onEnd: () => void,
  ) {}

  async next(): Promise<IteratorResult<Answer>> {
    if (this.#hasEnded) return this.#over();
    try {
      const event = await this.source.next();
      if (event.done || this.#hasEnded) return this.#over();
      const made = this.answer(event.value);
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
    await this.source.return?.();
    return { value: undefined, done: true };
  }

  /** Ends the stream with this error, which its reader gets in place of the next answer. */
  async refuse(error: GraphQLError): Promise<void> {
    if (this.#hasEnded) return;
    this.#refusal = error;
    await this.return();
  }

  /** Whether what is read may still be read, by a new look at it with this context. Sources without an opinion say yes. */
  async mayGoOn(context: object): Promise<boolean> {
    return !isGuarded(this.source) || (await this.source.mayGoOn(context));
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
  answer: (event: unknown) => Answer | Promise<Answer>;
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
    if (Symbol.asyncIterator in source) {
      return new ResponseStream(source[Symbol.asyncIterator](), answer, onEnd);
    }
    onEnd();
    return source;
  } catch (failure) {
    onEnd();
    throw failure;
  }
}
