/** Tries a failed turn again as it is: same history, the chat's model and choices as they are now. */
import type { MessageRow } from "../../domain/chat-events.js";
import type { ChatState } from "../../domain/chat-state.js";
import type { Command } from "../../domain/transition.js";
import type { Viewer } from "../../domain/viewer.js";
import { readHistory } from "../../store/chat-source.js";
import { MessageGone } from "../../store/transitions.js";
import { changeKnown } from "./change-chat.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { notFound, refuse, seeChat, type CommandParts } from "./command-parts.js";
import { checkKey } from "./model-keys.js";
import { checkUsageLimit } from "./usage-limit-check.js";

/** Refused as CONFLICT unless the chat is in `error`. */
export async function retryChat(
  parts: CommandParts,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(parts, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const { ownerId, state } = known;
  const unpaid = (await checkKey(parts, { chatId, ownerId })) ?? (await checkUsageLimit(parts, ownerId));
  if (unpaid) return refuse(unpaid);
  try {
    return await changeKnown(parts, known, { chatId, command: await retryOf(parts, chatId, state) });
  } catch (error) {
    if (!(error instanceof MessageGone)) throw error;
    const message = "The chat has moved on.";
    return refuse({ code: "CONFLICT", message, currentStatus: state.status });
  }
}

/** An answer that the vendor's filter broke off was kept for people; a new try takes its place. */
async function retryOf(parts: CommandParts, chatId: string, state: ChatState): Promise<Command> {
  if (state.lastError?.kind !== "content_filtered") return { type: "retry" };
  const history: MessageRow[] =
    parts.recent.get(chatId)?.history ?? (await readHistory(parts.database, chatId));
  const last = history.at(-1);
  return last?.role === "assistant" ? { type: "retry", withoutFrom: last.id } : { type: "retry" };
}
