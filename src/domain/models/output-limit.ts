/** The output limit that a model call requests. Pure. */
import { findKnownModel } from "./known-models.js";

/** With fewer output tokens available no call is made: history must be compacted first. */
export const MIN_OUTPUT_TOKENS = 256;
/** Margin for tokens that vendors add around messages and tools: a share of the prompt, and a few tokens. */
const PROMPT_MARGIN_SHARE = 1 / 50;
const PROMPT_MARGIN_TOKENS = 16;

/** A model's known output limits, in tokens; null = unknown. */
type OutputBounds = {
  /** The vendor's id of the model. */
  model: string;
  /** Configured by an admin. */
  maxOutputTokens: number | null;
  /** Learned from the vendor's refusals. */
  observedOutputLimit: number | null;
};

/** The model's own output limit, observed or from the table of known models; null = unknown. */
export function modelOutputLimit({ model, observedOutputLimit }: OutputBounds): number | null {
  return observedOutputLimit ?? findKnownModel(model)?.outputLimit ?? null;
}

/**
 * The output tokens to request if the window has space: the configured limit, else the deployment's default capped at the
 * model's known limit; never more than the vendor was observed to accept.
 */
export function desiredOutputTokens(bounds: OutputBounds, deploymentDefault: number): number {
  const { maxOutputTokens, observedOutputLimit } = bounds;
  const desired =
    maxOutputTokens ?? Math.min(deploymentDefault, modelOutputLimit(bounds) ?? deploymentDefault);
  return Math.min(desired, observedOutputLimit ?? desired);
}

/**
 * `desired` capped at what the window leaves beside the prompt, but at least `MIN_OUTPUT_TOKENS`: then the vendor counts,
 * and its refusal states the exact limit. `window` in tokens, null = unknown.
 */
export function fittingOutputTokens(desired: number, window: number | null, promptTokens: number): number {
  if (window === null) return desired;
  return Math.min(desired, Math.max(availableOutputTokens(window, promptTokens), MIN_OUTPUT_TOKENS));
}

/**
 * Whether `desired` fits even if the prompt has twice the tokens that the newest call reported, so that the prompt need
 * not be counted, which means to serialize all of it. `measuredTokens` null = no call has reported its usage.
 */
export function isWindowAmple(desired: number, window: number, measuredTokens: number | null): boolean {
  return measuredTokens !== null && desired <= availableOutputTokens(window, 2 * measuredTokens);
}

/** Output tokens that a window leaves beside the prompt; may be negative. */
export function availableOutputTokens(window: number, promptTokens: number): number {
  return window - promptTokens - Math.ceil(promptTokens * PROMPT_MARGIN_SHARE) - PROMPT_MARGIN_TOKENS;
}
