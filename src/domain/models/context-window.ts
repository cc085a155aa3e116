/** Context windows of models and the compaction threshold. Pure. */
import type { TokenUsage } from "../chats/message-parts.js";

/** A model's configured and observed context limits, in tokens; null = unknown. */
type ContextWindow = { contextLimit: number | null; observedContextLimit: number | null };

/**
 * The context limit in tokens; null = unknown. The configured limit applies, unless the vendor was observed to accept
 * less.
 */
export function contextLimitOf({ contextLimit, observedContextLimit }: ContextWindow): number | null {
  if (contextLimit === null || observedContextLimit === null) return contextLimit ?? observedContextLimit;
  return Math.min(contextLimit, observedContextLimit);
}

/** Minimum prompt tokens of the next call: everything the last one read, plus its answer. */
export function contextTokens(usage: TokenUsage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
}

/** A threshold of 100 percent disables compaction, even where more than the limit was used. */
export const COMPACTION_OFF_PERCENT = 100;

/** Whether the context should be compacted. `thresholdPercent` is 0 to 100; an unknown limit is never reached. */
export function isOverThreshold(
  usedTokens: number,
  limitTokens: number | null,
  thresholdPercent: number,
): boolean {
  if (limitTokens === null || thresholdPercent >= COMPACTION_OFF_PERCENT) return false;
  return usedTokens * 100 >= limitTokens * thresholdPercent;
}
