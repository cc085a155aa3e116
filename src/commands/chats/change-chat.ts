/** The commands that are one transition and nothing else: interrupt, archive, queue changes, the client's results. */
import type { Viewer } from "../../domain/users/viewer.js";
import type { Command } from "../../domain/chats/transition.js";
import { findQueuedMessages } from "../../store/chats/queue.js";
import { applyToFamily, type FamilyRequest } from "../../engine/transitions/apply-family.js";
import { applyTransition, type TransitionResult } from "../../engine/transitions/apply-transition.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import {
  notFound,
  refusalOf,
  refuse,
  seeChat,
  type CommandDependencies,
  type KnownChat,
} from "../common/command-dependencies.js";
import { checkTurn } from "../files/storage-check.js";

/** Runs one command on a chat that the viewer may see. Finding nothing to do is a success. */
export async function changeChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
  command: Command,
): Promise<CommandResult<ChatChanged>> {
  const known = await seeChat(dependencies, viewer, chatId);
  return known ? changeKnown(dependencies, known, { chatId, command }) : notFound("chat", "chatId");
}

/** The same for a chat and the subagents below it, all at once; `below` as in `FamilyRequest`. */
export async function changeFamily(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
  { command, below }: { command: Command; below: FamilyRequest["below"] },
): Promise<CommandResult<ChatChanged>> {
  if (!(await seeChat(dependencies, viewer, chatId))) return notFound("chat", "chatId");
  return toChanged(chatId, await applyToFamily(dependencies, { chatId, commands: [command], below }));
}

/** The same for a chat that has just been seen. */
export async function changeKnown(
  dependencies: CommandDependencies,
  known: KnownChat,
  { chatId, command }: { chatId: string; command: Command },
): Promise<CommandResult<ChatChanged>> {
  return toChanged(chatId, await applyTransition(dependencies, { chatId, commands: [command], known }));
}

function toChanged(chatId: string, result: TransitionResult): CommandResult<ChatChanged> {
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

/** Runs a command on the chat in whose queue the message waits. Only one that has it said next may cost something. */
export async function changeQueued(
  dependencies: CommandDependencies,
  viewer: Viewer,
  queuedId: string,
  type: "promote-queued" | "delete-queued",
): Promise<CommandResult<ChatChanged>> {
  const [queued] = await findQueuedMessages(dependencies.database, viewer, [queuedId]);
  if (!queued) return notFound("queued message", "queuedMessageId");
  const known = await seeChat(dependencies, viewer, queued.chatId);
  if (!known) return notFound("queued message", "queuedMessageId");
  const overLimit = type === "promote-queued" ? await checkTurn(dependencies, known.ownerId) : null;
  if (overLimit) return refuse(overLimit);
  return changeKnown(dependencies, known, { chatId: queued.chatId, command: { type, queuedId } });
}
