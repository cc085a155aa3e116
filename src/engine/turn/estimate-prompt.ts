/** Estimate of a prompt's tokens, used before or without the vendor's count. Pure. */
import { estimateMessageTokens, estimateTokens } from "../../domain/models/token-estimate.js";
import type { ModelRequest } from "../../providers/types.js";

/** Counts the system prompt, the messages and the tool definitions. */
export function estimatePromptTokens({ system, messages, tools }: ModelRequest): number {
  const messageTokens = messages.reduce((sum, { parts }) => sum + estimateMessageTokens(parts), 0);
  const toolTokens = tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools));
  return estimateTokens(system) + toolTokens + messageTokens;
}
