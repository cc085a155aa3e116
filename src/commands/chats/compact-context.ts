/** A person has the talk folded: summarised by the model, or put out of its sight. */
import { randomUUID } from "node:crypto";
import { canSummarize, clearingDrafts, contextOf } from "../../domain/chats/compaction.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { readHistory } from "../../store/chats/chat-source.js";
import { changeKnown } from "./change-chat.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { notFound, refuse, seeChat, type CommandParts } from "../common/command-dependencies.js";
import { checkTurn } from "../files/storage-check.js";

/** Asks for a summary; a worker makes it, and nothing else runs. */
export async function compactChat(
  parts: CommandParts,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(parts, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const isAtRest = known.state.status === "waiting" || known.state.status === "error";
  if (isAtRest && !canSummarize(await historyOf(parts, chatId))) {
    const message = "There is nothing to summarise yet.";
    return refuse({ code: "CONFLICT", message, currentStatus: known.state.status });
  }
  const overLimit = await checkTurn(parts, known.ownerId);
  if (overLimit) return refuse(overLimit);
  return changeKnown(parts, known, { chatId, command: { type: "request-compaction" } });
}

/** The model starts afresh at once. A context that is empty already is left as it is. */
export async function clearChatContext(
  parts: CommandParts,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(parts, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const context = contextOf(await historyOf(parts, chatId));
  if (context.length === 1 && context[0]?.isSummary && known.state.status === "waiting") {
    return { ok: true, chatId, version: known.state.snapshotVersion };
  }
  const messages = clearingDrafts(`clearing_${randomUUID()}`, parts.clock.now());
  return changeKnown(parts, known, { chatId, command: { type: "clear-context", messages } });
}

async function historyOf(parts: CommandParts, chatId: string) {
  return parts.recent.get(chatId)?.history ?? readHistory(parts.database, chatId);
}
