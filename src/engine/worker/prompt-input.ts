/** Input of a model call: the history, and the settings that it selects. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { ClaimedChat } from "../../store/chats/leases.js";

/** `signal` ends every wait: the run has been stopped. */
export type PromptInput = { history: MessageRow[]; signal: AbortSignal };

/** Settings that the user's latest message selects; the chat's own are the fallback. */
export function effectiveSettings(
  history: MessageRow[],
  chat: ClaimedChat,
): Pick<ClaimedChat, "modelConfigId" | "reasoningEffort" | "mcpServerIds"> {
  const last = history.findLast((message) => message.role === "user" && message.authorId !== null);
  return {
    modelConfigId: last?.modelConfigId ?? chat.modelConfigId,
    reasoningEffort: last?.reasoningEffort ?? chat.reasoningEffort,
    mcpServerIds: last?.mcpServerIds ?? chat.mcpServerIds,
  };
}
