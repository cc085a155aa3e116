/** How hard an Anthropic model is asked to think. Older models take a budget, newer ones an effort. Pure. */
import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages/messages";
import type { ReasoningEffort } from "../domain/message-parts.js";
import { ownMetadata } from "./prompt-parts.js";
import type { ModelRequest, PromptMessage } from "./types.js";

type ThinkingFields = Pick<MessageCreateParamsStreaming, "thinking" | "output_config">;

/** Models up to the 4.5 generation; all later ones decide on their own budget. */
const BUDGET_MODELS = /claude-(\d|instant|(sonnet|opus)-4(-[015])?(-\d{8})?(@|$|-latest)|haiku-4)/;
/** The 4.6 generation knows efforts, but not `xhigh`. */
const MODELS_WITHOUT_XHIGH = /claude-(opus|sonnet)-4-6/;

/** The vendor's own minimum. */
const SMALLEST_BUDGET_TOKENS = 1_024;
/** What is left for the answer itself when the budget must be cut to fit `max_tokens`. */
const ANSWER_RESERVE_TOKENS = 1_024;
/** Powers of two from the vendor's minimum to the most it recommends for an interactive call. */
const BUDGET_TOKENS: Record<Exclude<ReasoningEffort, "none">, number> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/** The request fields for `reasoningEffort`; none when nothing was asked for. */
export function anthropicThinking({
  model,
  messages,
  maxOutputTokens,
  reasoningEffort,
}: ModelRequest): ThinkingFields {
  if (reasoningEffort === undefined) return {};
  if (BUDGET_MODELS.test(model)) {
    if (reasoningEffort === "none" || !mayThinkWithBudget(messages)) return {};
    const budget = Math.min(BUDGET_TOKENS[reasoningEffort], maxOutputTokens - ANSWER_RESERVE_TOKENS);
    return budget < SMALLEST_BUDGET_TOKENS ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
  }
  if (reasoningEffort === "none") return { thinking: { type: "disabled" } };
  return {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: adaptiveEffort(model, reasoningEffort) },
  };
}

function adaptiveEffort(model: string, effort: Exclude<ReasoningEffort, "none">) {
  if (effort === "minimal") return "low";
  return effort === "xhigh" && MODELS_WITHOUT_XHIGH.test(model) ? "high" : effort;
}

/**
 * With a budget, the vendor refuses a turn under way whose tool calls are not led by their thinking. That happens
 * after a change of vendor or an interruption inside the turn; thinking then pauses until the next user message.
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
