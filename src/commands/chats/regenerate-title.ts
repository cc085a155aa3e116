/** Regenerates a chat's title with a model, from the whole conversation. */
import type { Viewer } from "../../domain/users/viewer.js";
import { findChat } from "../../store/chats/chats.js";
import type { ChatChanged, CommandResult } from "../common/command-result.js";
import { notFound, refuse, type CommandDependencies } from "../common/command-dependencies.js";
import { checkUsageLimit } from "../usage/usage-limit-check.js";

/**
 * Takes up to half a minute. Also for archived chats and while a turn is running. A chat that was renamed meanwhile
 * keeps that name, and the request still succeeds.
 */
export async function regenerateChatTitle(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  // From the database and not the cache: exactly the current title must be replaced.
  const chat = await findChat(dependencies.database, viewer, chatId);
  if (!chat) return notFound("chat", "chatId");
  const { ownerId, modelConfigId, state } = chat;
  const overLimit = await checkUsageLimit(dependencies, ownerId);
  if (overLimit) return refuse(overLimit);
  const made = await dependencies.regenerateTitle({ chatId, ownerId, modelConfigId, state });
  switch (made.outcome) {
    case "titled":
      return { ok: true, chatId, version: made.version };
    case "not_found":
      return notFound("chat", "chatId");
    case "in_progress":
      return refuse({ code: "CONFLICT", message: "A title is already being generated for this chat." });
    case "busy":
      return refuse({
        code: "LIMIT_EXCEEDED",
        message: "Too many titles are being generated. Try again soon.",
      });
    case "empty_chat":
      return refuse({
        code: "INVALID",
        message: "The chat has no messages yet that a title could be made from.",
      });
    case "failed":
      return refuse({ code: "UNAVAILABLE", message: made.message, what: "model" });
  }
}
