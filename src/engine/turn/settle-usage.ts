/**
 * Usage of one call: as its vendor reported it, completed by our own estimate of what was sent and streamed where the
 * report is missing or the call ended before it. Pure.
 */
import type { MessagePart, TokenUsage } from "../../domain/chats/message-parts.js";
import { estimateAnswerTokens } from "../../domain/models/token-estimate.js";
import type { ReportedUsage } from "../../providers/types.js";

/** For arguments of incomplete calls, which are in no message part; the usual density of JSON. */
const CHARACTERS_PER_INPUT_TOKEN = 3;

type CallUsage = {
  /** Null = nothing was reported. */
  reported: ReportedUsage | null;
  /** Called only when the vendor did not report its input. */
  promptTokens(): number;
  /** The answer so far. */
  parts: readonly MessagePart[];
  /** Characters of streamed arguments that are not in `parts`. */
  lostInputCharacters: number;
  /** The answer ended by itself; otherwise the report may be incomplete. */
  isWhole: boolean;
};

/** Cached tokens that were reported without an input count are part of the estimated prompt. */
export function settleUsage({ reported, isWhole, ...call }: CallUsage): TokenUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = reported ?? {};
  const inputTokens =
    reported?.inputTokens ?? Math.max(0, call.promptTokens() - cacheReadTokens - cacheWriteTokens);
  const reportedOutput = reported?.outputTokens ?? null;
  const written = isWhole && reportedOutput !== null ? { output: 0, reasoning: 0 } : estimateWritten(call);
  const outputTokens = Math.max(reportedOutput ?? 0, written.output);
  const reasoningTokens = Math.min(outputTokens, Math.max(reported?.reasoningTokens ?? 0, written.reasoning));
  const isEstimated =
    reported?.inputTokens == null || reportedOutput === null || outputTokens > reportedOutput;
  const usage = { inputTokens, outputTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens };
  return isEstimated ? { ...usage, isEstimated } : usage;
}

function estimateWritten({ parts, lostInputCharacters }: Pick<CallUsage, "parts" | "lostInputCharacters">): {
  output: number;
  reasoning: number;
} {
  const { output, reasoning } = estimateAnswerTokens(parts);
  return { output: output + Math.ceil(lostInputCharacters / CHARACTERS_PER_INPUT_TOKEN), reasoning };
}
