/** Why a model stopped, in the words that vendors share. */

/**
 * `stop` it was done · `tool-calls` it waits for its tools · `length` the output limit, or the context, was reached ·
 * `content-filter` the vendor withheld the rest · `other` a reason that only this vendor has.
 */
export const FINISH_REASONS = ["stop", "tool-calls", "length", "content-filter", "other"] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];
