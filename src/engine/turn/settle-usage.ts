/**
 * What one call has used: what its vendor reported, and where it reported nothing, or the call ended before it could, what
 * was sent and streamed by our own estimate. Pure.
 */
import type { MessagePart, TokenUsage } from "../../domain/chats/message-parts.js";
import { estimateAnswerTokens } from "../../domain/models/token-estimate.js";
import type { ReportedUsage } from "../../providers/types.js";

/** Arguments of calls that were never whole have no message to be counted in; JSON in deltas is about that dense. */
const CHARACTERS_PER_INPUT_TOKEN = 3;

export type UsedByCall = {
  /** Null = nothing was reported. */
  reported: ReportedUsage | null;
  /** Asked only when the vendor did not say how much it read. */
  promptTokens(): number;
  /** What it has said. */
  parts: readonly MessagePart[];
  /** Of arguments that were streamed for calls which are not in `parts` with them. */
  lostInputCharacters: number;
  /** The answer ended by itself; otherwise what was reported need not be all of it. */
  isWhole: boolean;
};

/** Cached tokens that were reported alone are part of the estimated prompt. */
export function settleUsage({ reported, isWhole, ...call }: UsedByCall): TokenUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = reported ?? {};
  const inputTokens =
    reported?.inputTokens ?? Math.max(0, call.promptTokens() - cacheReadTokens - cacheWriteTokens);
  const told = reported?.outputTokens ?? null;
  const written = isWhole && told !== null ? { output: 0, reasoning: 0 } : estimateWritten(call);
  const outputTokens = Math.max(told ?? 0, written.output);
  const reasoningTokens = Math.min(outputTokens, Math.max(reported?.reasoningTokens ?? 0, written.reasoning));
  const isEstimated = reported?.inputTokens == null || told === null || outputTokens > told;
  const usage = { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens };
  return isEstimated ? { ...usage, isEstimated } : usage;
}

function estimateWritten({ parts, lostInputCharacters }: Pick<UsedByCall, "parts" | "lostInputCharacters">): {
  output: number;
  reasoning: number;
} {
  const { output, reasoning } = estimateAnswerTokens(parts);
  return { output: output + Math.ceil(lostInputCharacters / CHARACTERS_PER_INPUT_TOKEN), reasoning };
}
