/** Conversion of Chat Completions usage, tolerant of what servers omit or count differently. Pure. */
import type { CompletionUsage } from "openai/resources/completions";
import type { ModelStreamPart } from "../types.js";
import type { UsageReport } from "../common/usage-report.js";

export function chatUsage(usage: CompletionUsage, report: UsageReport): ModelStreamPart {
  // Any field may be missing, despite the types.
  const { prompt_tokens_details: read, completion_tokens_details: written } = usage;
  const input = report.count("prompt_tokens", usage.prompt_tokens);
  const output = report.count("completion_tokens", usage.completion_tokens);
  const reasoningTokens = report.count("reasoning_tokens", written?.reasoning_tokens) ?? 0;
  const cacheRead =
    report.count("cached_tokens", read?.cached_tokens) ??
    report.count("prompt_cache_hit_tokens", Reflect.get(usage, "prompt_cache_hit_tokens"));
  const cacheWrite = report.count("cache_write_tokens", read?.cache_write_tokens);
  // xAI excludes reasoning from the completion's count; only the total shows it.
  const isBeside =
    reasoningTokens > 0 && usage.total_tokens === (input ?? 0) + (output ?? 0) + reasoningTokens;
  return report.part({
    ...report.uncached(input, cacheRead, cacheWrite),
    outputTokens: isBeside ? (output ?? 0) + reasoningTokens : output,
    reasoningTokens,
  });
}
