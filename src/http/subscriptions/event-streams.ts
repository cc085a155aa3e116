/**
 * One event stream's answers, at the pace at which its client takes them. graphql-sse would make them as fast as they
 * come and keep them in memory; so whoever reads slowly leaves them in the hub's bounded queue.
 */
import type { ExecutionResult } from "graphql";
import type { ErrorMask } from "../graphql/errors.js";
import type { ResponseStream } from "./response-stream.js";

/** How far the client is: answers made, and answers that the response has taken. */
export class ReadingPace {
  #made = 0;
  #taken = 0;
  #parts = 0;
  #proceed: (() => void) | null = null;
  #isOver = false;

  /** Parts of the response that were taken, answers and others. */
  get parts(): number {
    return this.#parts;
  }

  made(): void {
    this.#made += 1;
  }

  took(isAnswer: boolean): void {
    this.#parts += 1;
    if (isAnswer) this.#taken += 1;
    if (this.#taken >= this.#made) this.#go();
  }

  /** Nobody reads any more: whoever waits goes on. */
  end(): void {
    this.#isOver = true;
    this.#go();
  }

  /** Resolves when everything that was made has been taken. */
  async caughtUp(): Promise<void> {
    if (this.#isOver || this.#taken >= this.#made) return;
    await new Promise<void>((resolve) => (this.#proceed = resolve));
  }

  #go(): void {
    this.#proceed?.();
    this.#proceed = null;
  }
}

/** A subscription's answers with their errors masked. A failure is the last one: the protocol has no other place for it. */
export class PacedAnswers implements AsyncIterableIterator<ExecutionResult> {
  constructor(
    private readonly stream: ResponseStream,
    private readonly pace: ReadingPace,
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
      // The stream has ended with its failure: the next call says so.
      return { value: this.toFailure(failure), done: false };
    }
  }

  async return(): Promise<IteratorResult<ExecutionResult>> {
    this.pace.end();
    await this.stream.return();
    return { value: undefined, done: true };
  }

  /** Without it graphql-sse would not end the stream. */
  async throw(failure: unknown): Promise<IteratorResult<ExecutionResult>> {
    await this.return();
    throw failure;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** The answer with its errors as clients may see them. */
export function maskAnswer(result: ExecutionResult, mask: ErrorMask): ExecutionResult {
  // What the mask gives is printed like an error.
  return result.errors ? { ...result, errors: result.errors.map(mask) as never } : result;
}
