/** A person has seen what is in a chat, without having followed it. */
import { readUpdate } from "../../domain/chats/list-events.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { markRead } from "../../store/chats/unread.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { notFound, refuse, seeChat, type CommandDependencies } from "../common/command-dependencies.js";

/** Finding nothing unread is a success. */
export async function markChatRead(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(dependencies, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  if (known.ownerId !== viewer.userId) {
    return refuse({
      code: "INVALID",
      message: "Only its owner can mark a chat as read.",
      path: ["chatId"],
    });
  }
  const readings = [{ chatId, readerId: viewer.userId }];
  for (const read of await markRead(dependencies.database, readings))
    dependencies.bus.publishList(read.ownerId, readUpdate(read));
  return { ok: true, chatId, version: known.state.snapshotVersion };
}
