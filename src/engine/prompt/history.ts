/** History as the model is to see it: from the newest summary on, repaired so that every vendor accepts it. */
import type { MessageRow } from "../../domain/chat-events.js";
import type { PromptMessage } from "../../providers/types.js";
import { repairPrompt } from "./repair.js";

/** `history` is every message the model may see, oldest first. */
export function promptFrom(history: MessageRow[]): { system: string[]; messages: PromptMessage[] } {
  const boundary = history.findLastIndex((message) => message.isSummary);
  const spoken: PromptMessage[] = [];
  for (const { role, parts } of history.slice(Math.max(0, boundary))) {
    if (role !== "system") spoken.push({ role, parts });
  }
  const system = history
    .filter((message) => message.role === "system")
    .map((message) => message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
  return { system, messages: repairPrompt(spoken) };
}
