/**
 * Thinking and sampling fields of Claude requests; what sampling is allowed depends on thinking. Older models take a
 * budget, newer ones an effort. Pure.
 */
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages/messages";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import { type AnthropicOptions, SMALLEST_BUDGET_TOKENS } from "./options.js";
import { ownMetadata } from "../common/prompt-parts.js";
import type { ModelRequest, PromptMessage } from "../types.js";

export type ThinkingFields = Pick<MessageCreateParamsStreaming, "thinking" | "output_config">;
/** Accepted by older models only, and only in an older API version, so the SDK's types no longer have them. */
export type SamplingFields = { temperature?: number; top_p?: number; top_k?: number };

/** Models up to the 4.5 generation, also by Bedrock's names (`…-20250929-v1:0`); later ones have adaptive thinking. */
const BUDGET_MODELS = /claude-(\d|instant|(sonnet|opus)-4(-[015])?(-\d{8})?(@|$|-latest|-v\d)|haiku-4)/;
/** The only model with a budget that also has efforts, up to `high`. */
const BUDGET_MODELS_WITH_EFFORT = /claude-opus-4-5/;
/** The 4.6 generation has efforts, but not `xhigh`. */
const MODELS_WITHOUT_XHIGH = /claude-(opus|sonnet)-4-6/;

/** Default of `max_tokens`, which this format requires; every Claude model supports it. */
export const SMALLEST_MODEL_OUTPUT_TOKENS = 4_096;
/** Tokens left for the answer when the budget must be reduced to fit `max_tokens`. */
const ANSWER_RESERVE_TOKENS = 1_024;
/** With thinking, the vendor refuses a smaller `top_p`. */
const SMALLEST_THINKING_TOP_P = 0.95;
/** Powers of two from the vendor's minimum to the most it recommends for an interactive call. */
const BUDGET_TOKENS: Record<Exclude<ReasoningEffort, "none">, number> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/** The request fields for `reasoningEffort` and the options; empty when neither is set. */
export function anthropicThinking(request: ModelRequest, options: AnthropicOptions = {}): ThinkingFields {
  const { model, reasoningEffort } = request;
  const { effort, thinkingBudgetTokens } = options;
  if (BUDGET_MODELS.test(model)) {
    const knowsEffort = effort !== undefined && BUDGET_MODELS_WITH_EFFORT.test(model);
    return {
      ...budgetThinking(request, thinkingBudgetTokens),
      ...(knowsEffort ? effortOf("high", effort) : {}),
    };
  }
  const wanted = reasoningEffort === "none" ? effort : (reasoningEffort ?? effort);
  const highest = MODELS_WITHOUT_XHIGH.test(model) ? "high" : "xhigh";
  const effortFields = wanted === undefined ? {} : adaptiveEffort(highest, wanted);
  if (reasoningEffort === "none") return { thinking: { type: "disabled" }, ...effortFields };
  if (reasoningEffort === undefined && thinkingBudgetTokens === undefined) return effortFields;
  return { thinking: { type: "adaptive", display: "summarized" }, ...effortFields };
}

/** The sampling fields that the vendor accepts for this model and this thinking. */
export function anthropicSampling(
  model: string,
  { temperature, topP, topK }: AnthropicOptions,
  { thinking }: ThinkingFields,
): SamplingFields {
  const isNewer = /claude/.test(model) && !BUDGET_MODELS.test(model) && !MODELS_WITHOUT_XHIGH.test(model);
  if (isNewer) return {};
  if (thinking !== undefined && thinking.type !== "disabled") {
    return topP !== undefined && topP >= SMALLEST_THINKING_TOP_P ? { top_p: topP } : {};
  }
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
}

/**
 * Since version 2026-10-21, the SDK's default, the API refuses every sampling field for every model; a request with one
 * selects the version before, which does not differ in anything else that we send.
 */
export function samplingVersionHeader({ temperature, top_p, top_k }: SamplingFields): Record<string, string> {
  const isSampled = temperature !== undefined || top_p !== undefined || top_k !== undefined;
  return isSampled ? { "anthropic-version": "2023-06-01" } : {};
}

function budgetThinking(
  { messages, maxOutputTokens, reasoningEffort }: ModelRequest,
  configured: number | undefined,
): ThinkingFields {
  if (reasoningEffort === "none" || !mayThinkWithBudget(messages)) return {};
  const wanted = configured ?? (reasoningEffort === undefined ? 0 : BUDGET_TOKENS[reasoningEffort]);
  const budget = Math.min(wanted, (maxOutputTokens ?? SMALLEST_MODEL_OUTPUT_TOKENS) - ANSWER_RESERVE_TOKENS);
  return budget < SMALLEST_BUDGET_TOKENS ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
}

function adaptiveEffort(highest: "high" | "xhigh", effort: Exclude<ReasoningEffort, "none">): ThinkingFields {
  if (effort === "max") return { output_config: { effort } };
  return effortOf(highest, effort === "minimal" ? "low" : effort);
}

function effortOf(
  highest: "high" | "xhigh",
  effort: "low" | "medium" | "high" | "xhigh" | "max",
): ThinkingFields {
  const isTooHigh = highest === "high" && (effort === "xhigh" || effort === "max");
  return { output_config: { effort: isTooHigh ? highest : effort } };
}

/**
 * With a budget, the vendor refuses an unfinished turn whose tool calls are not preceded by their thinking, which
 * happens after a change of vendor or an interruption inside the turn. Thinking is then off until the next user
 * message.
 */
function mayThinkWithBudget(messages: PromptMessage[]): boolean {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  return messages
    .slice(lastUser + 1)
    .filter(({ role, parts }) => role === "assistant" && parts.some(({ type }) => type === "tool-call"))
    .every(({ parts }) => {
      const [first] = parts;
      if (first?.type !== "reasoning") return false;
      const { signature, redactedData } = ownMetadata(first.providerMetadata, "anthropic");
      return typeof signature === "string" || typeof redactedData === "string";
    });
}
