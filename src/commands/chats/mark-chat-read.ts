/** Marks a chat as read without a subscription to it. */
import { readUpdate } from "../../domain/chats/list-events.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { markRead } from "../../store/chats/unread.js";
import type { ChatChanged, CommandResult } from "../common/command-result.js";
import {
  notFound,
  refuse,
  findVisibleChat,
  type CommandDependencies,
} from "../common/command-dependencies.js";

/** Only for the chat's owner. Succeeds when nothing is unread. */
export async function markChatRead(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  const known = await findVisibleChat(dependencies, viewer, chatId);
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
