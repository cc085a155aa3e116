/**
 * A subscription's answers: each event of the source executed with a context of its own, so that nothing that was
 * loaded for one event is served to the next. `return()` reaches the source at once, also while `next()` waits.
 */
import { createSourceEventStream, execute, type ExecutionArgs, type ExecutionResult } from "graphql";

/** How an answer is made of one event of a subscription. */
export type AnswerEvent = (event: unknown) => ExecutionResult | Promise<ExecutionResult>;

/** Given an operation's plain execution, a way to answer its events that may know shortcuts. */
export type AnswerEvents = (execute: AnswerEvent) => AnswerEvent;

type Ending = { onEnd: () => void };

/** Answers of one subscription. Calls `onEnd` exactly once: at the source's end, failure, or `return()`. */
export class ResponseStream implements AsyncIterableIterator<ExecutionResult> {
  #hasEnded = false;

  constructor(
    private readonly source: AsyncIterator<unknown>,
    private readonly answer: AnswerEvent,
    private readonly ending: Ending,
  ) {}

  async next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#hasEnded) return { value: undefined, done: true };
    try {
      const event = await this.source.next();
      if (event.done || this.#hasEnded) return this.#end();
      return { value: await this.answer(event.value), done: false };
    } catch (failure) {
      await this.return();
      throw failure;
    }
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#hasEnded) return { value: undefined, done: true };
    this.#end();
    await this.source.return?.();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): IteratorResult<ExecutionResult> {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.ending.onEnd();
    }
    return { value: undefined, done: true };
  }
}

/**
 * Opens the source and answers its events; a result instead of a stream when the source cannot be opened (then
 * `onEnd` has been called). `createContext` is called once for opening and once for each event.
 */
export async function openResponseStream(
  args: ExecutionArgs,
  createContext: () => object,
  ending: Ending & { answerEvents?: AnswerEvents },
): Promise<ResponseStream | ExecutionResult> {
  try {
    const source = await createSourceEventStream({ ...args, contextValue: createContext() });
    if (!(Symbol.asyncIterator in source)) {
      ending.onEnd();
      return source;
    }
    const plain = (event: unknown) => execute({ ...args, rootValue: event, contextValue: createContext() });
    const answer = ending.answerEvents?.(plain) ?? plain;
    return new ResponseStream(source[Symbol.asyncIterator](), answer, ending);
  } catch (failure) {
    ending.onEnd();
    throw failure;
  }
}
