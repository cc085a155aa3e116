/** The commands that are one transition and nothing else: interrupt, archive, queue changes, the client's results. */
import type { Viewer } from "../../domain/viewer.js";
import type { Command } from "../../domain/transition.js";
import { findQueuedMessages } from "../../store/queue.js";
import { applyTransition } from "../state/apply-transition.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { notFound, refusalOf, refuse, seeChat, type CommandParts, type KnownChat } from "./command-parts.js";

/** Runs one command on a chat that the viewer may see. Finding nothing to do is a success. */
export async function changeChat(
  parts: CommandParts,
  viewer: Viewer,
  chatId: string,
  command: Command,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(parts, viewer, chatId);
  return known ? changeKnown(parts, known, { chatId, command }) : notFound("chat", "chatId");
}

/** The same for a chat that has just been seen. */
export async function changeKnown(
  parts: CommandParts,
  known: KnownChat,
  { chatId, command }: { chatId: string; command: Command },
): Promise<CommandResult<ChatChanged>> {
  const result = await applyTransition(parts, { chatId, commands: [command], known });
  switch (result.outcome) {
    case "changed":
    case "unchanged":
      return { ok: true, chatId, version: result.state.snapshotVersion };
    case "refused":
      return refuse(refusalOf(result));
    case "not_found":
      return notFound("chat", "chatId");
  }
}

/** Runs a command on the chat in whose queue the message waits. */
export async function changeQueued(
  parts: CommandParts,
  viewer: Viewer,
  queuedId: string,
  type: "promote-queued" | "delete-queued",
): Promise<CommandResult<ChatChanged>> {
  const [queued] = await findQueuedMessages(parts.database, viewer, [queuedId]);
  if (!queued) return notFound("queued message", "queuedMessageId");
  return changeChat(parts, viewer, queued.chatId, { type, queuedId });
}
