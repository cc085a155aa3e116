/**
 * Wraps a model's adapter to retry with less output when the vendor rejects the requested limit: at once, in the same
 * attempt, before anything was streamed or paid for. Limits from the errors are kept for the turn and reported to
 * `learn`.
 */
import {
  fittingOutputTokens,
  MIN_OUTPUT_TOKENS,
  availableOutputTokens,
} from "../../domain/models/output-limit.js";
import { ModelCallError, type OutputRefusal } from "../../domain/common/failures.js";
import type { ModelProvider, ModelRequest, ModelStreamPart } from "../../providers/types.js";
import { promptTokens } from "../../engine/prompt/prompt-tokens.js";

/**
 * Requests of one attempt at most: the model's bound, then the window, then a guess that was too high, then no limit.
 */
const MAX_REQUESTS = 4;

/** Receives learned limits, in tokens. Must not reject. */
export type LearnLimits = {
  modelLimit(tokens: number): Promise<void>;
  window(tokens: number): Promise<void>;
};

export function withOutputRetry(adapter: ModelProvider, learn: LearnLimits): ModelProvider {
  const known: KnownLimits = { modelLimit: Number.POSITIVE_INFINITY, window: null };
  return {
    stream: (request, signal) => ({
      [Symbol.asyncIterator]: () => new FittedStream({ adapter, learn, known }, request, signal),
    }),
    findContextLimit: (model, signal) => adapter.findContextLimit(model, signal),
    listModels: (signal) => adapter.listModels(signal),
  };
}

type KnownLimits = { modelLimit: number; window: number | null };
type Source = { adapter: ModelProvider; learn: LearnLimits; known: KnownLimits };

/** Only the first part is awaited here; all others come straight from the adapter, without another promise. */
class FittedStream implements AsyncIterator<ModelStreamPart, void, undefined> {
  readonly #source: Source;
  readonly #request: ModelRequest;
  readonly #signal: AbortSignal;
  #parts: AsyncIterator<ModelStreamPart, void, undefined> | undefined;

  constructor(source: Source, request: ModelRequest, signal: AbortSignal) {
    this.#source = source;
    this.#request = request;
    this.#signal = signal;
  }

  next(): Promise<IteratorResult<ModelStreamPart, void>> {
    return this.#parts ? this.#parts.next() : this.#begin();
  }

  async return(): Promise<IteratorResult<ModelStreamPart, void>> {
    await this.#parts?.return?.();
    return { done: true, value: undefined };
  }

  async #begin(): Promise<IteratorResult<ModelStreamPart, void>> {
    const { adapter } = this.#source;
    let tokens = this.#asked();
    for (let requests = 1; ; requests += 1) {
      const request = { ...this.#request, maxOutputTokens: tokens };
      this.#parts = adapter.stream(request, this.#signal)[Symbol.asyncIterator]();
      try {
        return await this.#parts.next();
      } catch (error) {
        const refusal = error instanceof ModelCallError ? error.outputRefusal : undefined;
        if (tokens === null || refusal === undefined || requests === MAX_REQUESTS) throw error;
        const less = await this.#lessThan(tokens, refusal);
        if (less === undefined || this.#signal.aborted) throw error;
        tokens = less;
      }
    }
  }

  /** The caller's limit, reduced by the limits learned in this turn. */
  #asked(): number | null {
    const { modelLimit, window } = this.#source.known;
    const { maxOutputTokens } = this.#request;
    if (maxOutputTokens === null) return null;
    const asked = Math.min(maxOutputTokens, modelLimit);
    return window === null ? asked : fittingOutputTokens(asked, window, promptTokens(this.#request));
  }

  /** The next limit to request; null = no limit at all, undefined = the prompt must get shorter. */
  async #lessThan(
    tokens: number,
    { modelLimit, window, prompt }: OutputRefusal,
  ): Promise<number | null | undefined> {
    const { learn, known } = this.#source;
    if (modelLimit !== undefined) {
      known.modelLimit = modelLimit;
      await learn.modelLimit(modelLimit);
      return modelLimit < tokens ? modelLimit : null;
    }
    if (window === undefined) return null;
    known.window = window;
    await learn.window(window);
    const available = availableOutputTokens(window, prompt ?? promptTokens(this.#request));
    // A prompt counted by the vendor is exact; our estimate may be too high or too low.
    if (prompt !== undefined)
      return available < MIN_OUTPUT_TOKENS ? undefined : Math.min(available, tokens - 1);
    return tokens <= MIN_OUTPUT_TOKENS
      ? undefined
      : Math.max(MIN_OUTPUT_TOKENS, Math.min(available, Math.floor(tokens / 2)));
  }
}
