/** A person has the talk folded: summarised by the model, or put out of its sight. */
import { randomUUID } from "node:crypto";
import { canSummarize, clearingDrafts, contextOf } from "../../domain/chats/compaction.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { readHistory } from "../../store/chats/chat-source.js";
import { changeKnown } from "./change-chat.js";
import type { ChatChanged, CommandResult } from "../common/command-result.js";
import { notFound, refuse, seeChat, type CommandDependencies } from "../common/command-dependencies.js";
import { checkTurn } from "../files/storage-check.js";

/** Asks for a summary; a worker makes it, and nothing else runs. */
export async function compactChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(dependencies, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const isAtRest = known.state.status === "waiting" || known.state.status === "error";
  if (isAtRest && !canSummarize(await historyOf(dependencies, chatId))) {
    const message = "There is nothing to summarise yet.";
    return refuse({ code: "CONFLICT", message, currentStatus: known.state.status });
  }
  const overLimit = await checkTurn(dependencies, known.ownerId);
  if (overLimit) return refuse(overLimit);
  return changeKnown(dependencies, known, { chatId, command: { type: "request-compaction" } });
}

/** The model starts afresh at once. A context that is empty already is left as it is. */
export async function clearChatContext(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(dependencies, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const context = contextOf(await historyOf(dependencies, chatId));
  if (context.length === 1 && context[0]?.isSummary && known.state.status === "waiting") {
    return { ok: true, chatId, version: known.state.snapshotVersion };
  }
  const messages = clearingDrafts(`clearing_${randomUUID()}`, dependencies.clock.now());
  return changeKnown(dependencies, known, { chatId, command: { type: "clear-context", messages } });
}

async function historyOf(dependencies: CommandDependencies, chatId: string) {
  return dependencies.chatCache.get(chatId)?.history ?? readHistory(dependencies.database, chatId);
}
