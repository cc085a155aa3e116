/** A person has seen what is in a chat, without having followed it. */
import { readNews } from "../../domain/list-events.js";
import type { Viewer } from "../../domain/viewer.js";
import { markRead } from "../../store/unread.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { notFound, refuse, seeChat, type CommandParts } from "./command-parts.js";

/** Finding nothing unread is a success. */
export async function markChatRead(
  parts: CommandParts,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(parts, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  if (known.ownerId !== viewer.userId) {
    return refuse({
      code: "INVALID",
      message: "Only its owner can mark a chat as read.",
      path: ["chatId"],
    });
  }
  const readings = [{ chatId, readerId: viewer.userId }];
  for (const read of await markRead(parts.database, readings))
    parts.bus.publishList(read.ownerId, readNews(read));
  return { ok: true, chatId, version: known.state.snapshotVersion };
}
