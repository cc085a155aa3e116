/** Limits of the simulated vendors, so that a request that a real one refuses is refused here too. */
import { findKnownModel } from "../domain/models/known-models.js";

/** Of one model, in tokens; absent = any number. */
export type ModelLimits = {
  maxOutputTokens?: number;
  /** The window into which prompt and answer must fit together. */
  contextTokens?: number;
};

/** A request's limits, and what it asks for. `promptTokens` is guessed from the body's length. */
export type Asked = ModelLimits & { promptTokens: number };

/** As the table of known models has it. */
export function knownLimits(model: string): ModelLimits {
  const outputLimit = findKnownModel(model)?.outputLimit ?? null;
  return outputLimit === null ? {} : { maxOutputTokens: outputLimit };
}
