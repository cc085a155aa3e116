/** History as a prompt: from the newest summary on, repaired so that every vendor accepts it. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import { contextOf } from "../../domain/chats/compaction.js";
import type { PromptMessage } from "../../providers/types.js";
import { repairPrompt, type UnrepairedMessage } from "./repair.js";

/**
 * `history` is every message the model may see, oldest first. Response ids are kept only of the model that is called
 * now, `modelConfigId`: another one cannot continue them.
 */
export function promptFrom(
  history: MessageRow[],
  modelConfigId: string,
): { system: string[]; messages: PromptMessage[] } {
  const messages = contextOf(history).flatMap(
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
  return { system, messages: repairPrompt(messages) };
}
