/** Retries a failed turn: same history, the chat's current model and settings. */
import type { ChatState } from "../../domain/chats/chat-state.js";
import type { Command } from "../../domain/chats/transition.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { readHistory } from "../../store/chats/chat-source.js";
import { findChat } from "../../store/chats/chats.js";
import { MessageGone } from "../../store/chats/transitions.js";
import { findUsersByIds } from "../../store/users/users.js";
import { changeKnown } from "./change-chat.js";
import type { ChatChanged, CommandRefusal, CommandResult } from "../common/command-result.js";
import { notFound, refuse, type CommandDependencies } from "../common/command-dependencies.js";
import { checkPersonalKey } from "../models/model-keys.js";
import { checkTurn } from "../files/storage-check.js";

/** Refused as CONFLICT unless the chat is in `error`, and for the chats of users who are deactivated. */
export async function retryChat(
  dependencies: CommandDependencies,
  viewer: Viewer,
  chatId: string,
): Promise<CommandResult<ChatChanged>> {
  // From the database and not the cache: which answer is replaced depends on the last failure, on any replica.
  const known = await findChat(dependencies.database, viewer, chatId);
  if (!known) return notFound("chat", "chatId");
  const { ownerId, state } = known;
  const refusal =
    (await checkOwner(dependencies, viewer, { ownerId, state })) ??
    (await checkPersonalKey(dependencies, { chatId, ownerId })) ??
    (await checkTurn(dependencies, ownerId));
  if (refusal) return refuse(refusal);
  try {
    const command = await retryOf(dependencies, chatId, state);
    return await changeKnown(dependencies, { ownerId, state }, { chatId, command });
  } catch (error) {
    if (!(error instanceof MessageGone)) throw error;
    return refuse({ code: "CONFLICT", message: "The chat has moved on.", currentStatus: state.status });
  }
}

/** A retry carries no message of the admin's own: it would act for a user whom an admin has deactivated. */
async function checkOwner(
  { database }: CommandDependencies,
  viewer: Viewer,
  { ownerId, state }: { ownerId: string; state: ChatState },
): Promise<CommandRefusal | null> {
  if (viewer.userId === ownerId) return null;
  const [owner] = await findUsersByIds(database, [ownerId]);
  if (owner?.isActive) return null;
  const message = "The chat's owner is deactivated.";
  return { code: "CONFLICT", message, currentStatus: state.status };
}

/** An answer that the vendor's content filter cut off was saved for users to see; the retry replaces it. */
async function retryOf(
  { database }: CommandDependencies,
  chatId: string,
  state: ChatState,
): Promise<Command> {
  if (state.lastError?.kind !== "content_filtered") return { type: "retry" };
  const last = (await readHistory(database, chatId)).at(-1);
  if (last?.role !== "assistant") return { type: "retry" };
  return { type: "retry", without: { messageId: last.id, historyVersion: state.historyVersion } };
}
