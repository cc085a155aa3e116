/** How much of a conversation a model can hold, and when that is too much. Pure. */
import type { TokenUsage } from "../chats/message-parts.js";

/** What is known of a model's context; in tokens, null = unknown. */
export type ContextWindow = { contextLimit: number | null; observedContextLimit: number | null };

/**
 * Tokens that fit into one call; null = unknown. What an administrator said counts, unless the vendor was seen to
 * take less.
 */
export function contextLimitOf({ contextLimit, observedContextLimit }: ContextWindow): number | null {
  if (contextLimit === null || observedContextLimit === null) return contextLimit ?? observedContextLimit;
  return Math.min(contextLimit, observedContextLimit);
}

/** Tokens that the next call's prompt has at least: everything the last one read, and what it answered. */
export function contextTokens(usage: TokenUsage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
}

/** A threshold of 100 percent switches compaction off, also where more than the limit was used. */
export const COMPACTION_OFF_PERCENT = 100;

/** Whether the conversation should be summarised now. `thresholdPercent` is 0 to 100; an unknown limit is never reached. */
export function isOverThreshold(
  usedTokens: number,
  limitTokens: number | null,
  thresholdPercent: number,
): boolean {
  if (limitTokens === null || thresholdPercent >= COMPACTION_OFF_PERCENT) return false;
  return usedTokens * 100 >= limitTokens * thresholdPercent;
}
