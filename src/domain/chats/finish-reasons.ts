/** Finish reasons of model calls, common to all vendors. */

/**
 * `stop` the answer is complete · `tool-calls` the model waits for tool results · `length` the output or context limit was
 * reached · `content-filter` the vendor withheld the rest · `other` a vendor-specific reason.
 */
export const FINISH_REASONS = ["stop", "tool-calls", "length", "content-filter", "other"] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];
