/** Compacts a chat's context: summarised by the model, or cleared. */
import { randomUUID } from "node:crypto";
import { canSummarize, clearingDrafts, contextOf } from "../../domain/chats/compaction.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { readHistory } from "../../store/chats/chat-source.js";
import { changeKnown } from "./change-chat.js";
import type { ChatChanged, CommandResult } from "../common/command-result.js";
import {
  notFound,
  refuse,
  findVisibleChat,
  type CommandDependencies,
} from "../common/command-dependencies.js";
import { checkTurn } from "../files/storage-check.js";

/** Requests a summary, which a worker generates; no turn is started. */
export async function compactChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await findVisibleChat(dependencies, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const isIdle = known.state.status === "waiting" || known.state.status === "error";
  if (isIdle && !canSummarize(await historyOf(dependencies, chatId))) {
    const message = "There is nothing to summarise yet.";
    return refuse({ code: "CONFLICT", message, currentStatus: known.state.status });
  }
  const overLimit = await checkTurn(dependencies, known.ownerId);
  if (overLimit) return refuse(overLimit);
  return changeKnown(dependencies, known, { chatId, command: { type: "request-compaction" } });
}

/** The model's context is empty from now on. Succeeds without a change when it is already. */
export async function clearChatContext(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await findVisibleChat(dependencies, viewer, chatId);
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
