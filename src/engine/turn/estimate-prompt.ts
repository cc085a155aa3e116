/** How many tokens a prompt has, guessed before or without its vendor's count. Pure. */
import { estimateMessageTokens, estimateTokens } from "../../domain/models/token-estimate.js";
import type { ModelRequest } from "../../providers/types.js";

/** Of the whole request: what the model is told, what was said, and the tools it is offered. */
export function estimatePromptTokens({ system, messages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, { parts }) => sum + estimateMessageTokens(parts), 0);
  const offered = tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools));
  return estimateTokens(system) + offered + said;
}
