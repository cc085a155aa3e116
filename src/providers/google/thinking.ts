/** Thinking settings of Gemini models by reasoning effort: a level or a budget. Pure. */
import { ThinkingLevel, type ThinkingConfig } from "@google/genai";
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import { thinkingStyle } from "./models.js";
import type { GoogleOptions } from "./options.js";
import type { ModelRequest } from "../types.js";

/** The vendor's own translation of efforts, from its page on OpenAI's format; its models end at 24576, Pro at 32768. */
const BUDGET_TOKENS: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
const PRO_LARGEST_BUDGET_TOKENS = 32_768;
/** Pro cannot stop thinking. */
const PRO_SMALLEST_BUDGET_TOKENS = 128;
/** Smallest that Flash-Lite accepts besides 0; fine for Flash. */
const SMALLEST_BUDGET_TOKENS = 512;
/** Thoughts count as output, so some tokens are reserved for the answer. */
const ANSWER_RESERVE_TOKENS = 1_024;

const LEVELS: Record<ReasoningEffort, ThinkingLevel> = {
  none: ThinkingLevel.MINIMAL,
  minimal: ThinkingLevel.MINIMAL,
  low: ThinkingLevel.LOW,
  medium: ThinkingLevel.MEDIUM,
  high: ThinkingLevel.HIGH,
  xhigh: ThinkingLevel.HIGH,
  max: ThinkingLevel.HIGH,
};
/** Only these are known to accept MINIMAL; the others refuse it, and all accept LOW. */
const MODELS_WITH_MINIMAL = /gemini-3(\.[1-5])?-flash/;

/** Undefined = the model's default. */
export function googleThinking(
  request: Pick<ModelRequest, "model" | "maxOutputTokens" | "reasoningEffort">,
  { thinkingBudget, includeThoughts }: GoogleOptions,
): ThinkingConfig | undefined {
  const { reasoningEffort } = request;
  const chosen = thinkingBudget === undefined ? settingOfEffort(request) : { thinkingBudget };
  const isThinking = chosen !== undefined && reasoningEffort !== undefined && reasoningEffort !== "none";
  const shown = includeThoughts ?? (isThinking ? true : undefined);
  if (chosen === undefined && shown === undefined) return undefined;
  return { ...chosen, ...(shown === undefined ? {} : { includeThoughts: shown }) };
}

/** Level and budget exclude each other; undefined for a model with neither. */
function settingOfEffort({
  model,
  maxOutputTokens,
  reasoningEffort: effort,
}: Pick<ModelRequest, "model" | "maxOutputTokens" | "reasoningEffort">): ThinkingConfig | undefined {
  if (effort === undefined) return undefined;
  switch (thinkingStyle(model)) {
    case "level": {
      const level = LEVELS[effort];
      const isRefused = level === ThinkingLevel.MINIMAL && !MODELS_WITH_MINIMAL.test(model);
      return { thinkingLevel: isRefused ? ThinkingLevel.LOW : level };
    }
    case "budget":
      return { thinkingBudget: budgetOf(effort, model, maxOutputTokens) };
    case "none":
      return undefined;
  }
}

function budgetOf(effort: ReasoningEffort, model: string, maxOutputTokens: number | null): number {
  const isPro = model.includes("-pro");
  if (effort === "none") return isPro ? PRO_SMALLEST_BUDGET_TOKENS : 0;
  const isMost = effort === "xhigh" || effort === "max";
  const wanted = isPro && isMost ? PRO_LARGEST_BUDGET_TOKENS : BUDGET_TOKENS[effort];
  const least = isPro ? PRO_SMALLEST_BUDGET_TOKENS : SMALLEST_BUDGET_TOKENS;
  const most = maxOutputTokens === null ? wanted : maxOutputTokens - ANSWER_RESERVE_TOKENS;
  return Math.max(least, Math.min(wanted, most));
}
