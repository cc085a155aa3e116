/** The usage that Chat Completions servers report → ours, whatever they leave out or count differently. Pure. */
import type { CompletionUsage } from "openai/resources/completions";
import type { TokenUsage } from "../domain/message-parts.js";

export function chatUsage(usage: CompletionUsage): TokenUsage {
  const input = usage.prompt_tokens ?? 0;
  const output = usage.completion_tokens ?? 0;
  const reasoningTokens = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const cacheReadTokens = usage.prompt_tokens_details?.cached_tokens ?? deepseekCacheHits(usage);
  const cacheWriteTokens = usage.prompt_tokens_details?.cache_write_tokens ?? 0;
  // xAI counts reasoning beside the completion instead of in it; only the total shows it.
  const isBeside = reasoningTokens > 0 && usage.total_tokens === input + output + reasoningTokens;
  return {
    inputTokens: Math.max(0, input - cacheReadTokens - cacheWriteTokens),
    outputTokens: isBeside ? output + reasoningTokens : output,
    reasoningTokens,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function deepseekCacheHits(usage: CompletionUsage): number {
  const hits: unknown = Reflect.get(usage, "prompt_cache_hit_tokens");
  return typeof hits === "number" ? hits : 0;
}
