/** A person asks for another title, made by a model from the whole talk. */
import type { Viewer } from "../../domain/users/viewer.js";
import { findChat } from "../../store/chats/chats.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { notFound, refuse, type CommandDependencies } from "../common/command-dependencies.js";
import { checkUsageLimit } from "../usage/usage-limit-check.js";

/** A chat that somebody renamed meanwhile keeps that name, and the request is a success all the same. */
export async function regenerateTitle(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  // From the database, not from this replica's memory: the title that it has now must be the one that is replaced.
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
    case "under_way":
      return refuse({ code: "CONFLICT", message: "A title is being made for this chat already." });
    case "busy":
      return refuse({ code: "LIMIT_EXCEEDED", message: "Too many titles are being made. Try again soon." });
    case "nothing_said":
      return refuse({
        code: "INVALID",
        message: "Nobody has said anything yet that a title could be made of.",
      });
    case "failed":
      return refuse({ code: "UNAVAILABLE", message: made.message, what: "model" });
  }
}
