/** History as the model is to see it: from the newest summary on, repaired so that every vendor accepts it. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import { contextOf } from "../../domain/chats/compaction.js";
import type { PromptMessage } from "../../providers/types.js";
import { repairPrompt, type UnrepairedMessage } from "./repair.js";

/**
 * `history` is every message the model may see, oldest first. Only responses of the model that is asked now,
 * `modelConfigId`, may be gone on from.
 */
export function promptFrom(
  history: MessageRow[],
  modelConfigId: string,
): { system: string[]; messages: PromptMessage[] } {
  const spoken = contextOf(history).flatMap(
    ({ role, parts, responseId, modelConfigId: madeBy }): UnrepairedMessage[] => {
      if (role === "system") return [];
      return [
        responseId !== null && madeBy === modelConfigId ? { role, parts, responseId } : { role, parts },
      ];
    },
  );
  const system = history
    .filter((message) => message.role === "system")
    .map((message) => message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
  return { system, messages: repairPrompt(spoken) };
}
