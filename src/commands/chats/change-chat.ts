/** Commands that are a single transition: interrupt, archive, queue changes, results of client tools. */
import type { Viewer } from "../../domain/users/viewer.js";
import type { ToolResultPart } from "../../domain/chats/message-parts.js";
import type { Command } from "../../domain/chats/transition.js";
import { findQueuedMessages } from "../../store/chats/queue.js";
import { applyToFamily, type FamilyRequest, stopBelow } from "../../engine/transitions/apply-family.js";
import { applyTransition, type TransitionResult } from "../../engine/transitions/apply-transition.js";
import type { ChatChanged, CommandResult } from "../common/command-result.js";
import {
  notFound,
  refusalOf,
  refuse,
  findVisibleChat,
  type CommandDependencies,
  type KnownChat,
} from "../common/command-dependencies.js";
import { checkTurn } from "../files/storage-check.js";

export type SubmitToolResultsInput = {
  chatId: string;
  results: Pick<ToolResultPart, "toolCallId" | "result" | "isError">[];
};

/** Stops the turn, and those of the chat's subagents. Succeeds when none is running. */
export function interruptChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  return changeFamily(dependencies, viewer, chatId, { command: { type: "interrupt" }, below: stopBelow });
}

/** Stops and archives the chat with its subagents. Reversible. */
export function archiveChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  return changeFamily(dependencies, viewer, chatId, forWholeFamily({ type: "archive" }));
}

export function unarchiveChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  return changeFamily(dependencies, viewer, chatId, forWholeFamily({ type: "unarchive" }));
}

function forWholeFamily(command: Command) {
  return { command, below: () => [command] };
}

/** Answers pending calls of the client's own tools: every one, once. */
export function submitToolResults(
  dependencies: CommandDependencies,
  viewer: Viewer,
  { chatId, results }: SubmitToolResultsInput,
): Promise<CommandResult<ChatChanged>> {
  return changeChat(dependencies, viewer, chatId, { type: "submit-tool-results", results });
}

/** Moves a queued message to the head of the queue and interrupts the turn; without one it is sent at once. */
export function promoteQueuedMessage(
  dependencies: CommandDependencies,
  viewer: Viewer,
  queuedId: string,
): Promise<CommandResult<ChatChanged>> {
  return changeQueued(dependencies, viewer, queuedId, "promote-queued");
}

export function deleteQueuedMessage(
  dependencies: CommandDependencies,
  viewer: Viewer,
  queuedId: string,
): Promise<CommandResult<ChatChanged>> {
  return changeQueued(dependencies, viewer, queuedId, "delete-queued");
}

/** Applies one command to a chat that the viewer may see. Succeeds when there is nothing to do. */
async function changeChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
  command: Command,
): Promise<CommandResult<ChatChanged>> {
  const known = await findVisibleChat(dependencies, viewer, chatId);
  return known ? changeKnown(dependencies, known, { chatId, command }) : notFound("chat", "chatId");
}

/** The same for a chat and its subagents in one transaction; `below` as in `FamilyRequest`. */
async function changeFamily(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
  { command, below }: { command: Command; below: FamilyRequest["below"] },
): Promise<CommandResult<ChatChanged>> {
  if (!(await findVisibleChat(dependencies, viewer, chatId))) return notFound("chat", "chatId");
  return toChanged(chatId, await applyToFamily(dependencies, { chatId, commands: [command], below }));
}

/** The same for a chat whose state was just read. */
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

/**
 * Applies a command to the chat in whose queue the message is. Only promoting may start a turn, which is checked
 * against the limits.
 */
async function changeQueued(
  dependencies: CommandDependencies,
  viewer: Viewer,
  queuedId: string,
  type: "promote-queued" | "delete-queued",
): Promise<CommandResult<ChatChanged>> {
  const [queued] = await findQueuedMessages(dependencies.database, viewer, [queuedId]);
  if (!queued) return notFound("queued message", "queuedMessageId");
  const known = await findVisibleChat(dependencies, viewer, queued.chatId);
  if (!known) return notFound("queued message", "queuedMessageId");
  const overLimit = type === "promote-queued" ? await checkTurn(dependencies, known.ownerId) : null;
  if (overLimit) return refuse(overLimit);
  return changeKnown(dependencies, known, { chatId: queued.chatId, command: { type, queuedId } });
}
