/** How many tokens of output a model call asks for. Pure. */
import { findKnownModel } from "./known-models.js";

/** An answer that has no room for this many tokens is not asked for: history must get shorter first. */
export const LEAST_OUTPUT_TOKENS = 256;
/** What vendors add around messages and tools is not in any count of ours: a share of the prompt, and a few tokens. */
const PROMPT_MARGIN_SHARE = 1 / 50;
const PROMPT_MARGIN_TOKENS = 16;

/** What is known of a model's answers; in tokens, null = nobody has said. */
export type OutputBounds = {
  /** The vendor's id of the model. */
  model: string;
  /** What an administrator said. */
  maxOutputTokens: number | null;
  /** What the vendor's refusals showed. */
  observedOutputLimit: number | null;
};

/** The most that the model itself gives in one answer, seen or from the table of known models; null = unknown. */
export function modelOutputLimit({ model, observedOutputLimit }: OutputBounds): number | null {
  return observedOutputLimit ?? findKnownModel(model)?.outputLimit ?? null;
}

/**
 * Tokens to ask for when there is room for all of them: what an administrator said, else the deployment's default as far
 * as the model is known to give it; never more than the vendor was seen to take.
 */
export function desiredOutputTokens(bounds: OutputBounds, deploymentDefault: number): number {
  const { maxOutputTokens, observedOutputLimit } = bounds;
  const wanted =
    maxOutputTokens ?? Math.min(deploymentDefault, modelOutputLimit(bounds) ?? deploymentDefault);
  return Math.min(wanted, observedOutputLimit ?? wanted);
}

/**
 * What of `wanted` fits into the window beside the prompt; with less room than an answer needs, as much as an answer
 * needs: then the vendor counts, and its refusal says exactly. `window` in tokens, null = unknown.
 */
export function fittingOutputTokens(wanted: number, window: number | null, promptTokens: number): number {
  if (window === null) return wanted;
  return Math.min(wanted, Math.max(availableOutputTokens(window, promptTokens), LEAST_OUTPUT_TOKENS));
}

/** Tokens that a window leaves beside a prompt of so many; may be negative. */
export function availableOutputTokens(window: number, promptTokens: number): number {
  return window - promptTokens - Math.ceil(promptTokens * PROMPT_MARGIN_SHARE) - PROMPT_MARGIN_TOKENS;
}
