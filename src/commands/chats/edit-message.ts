/** Replaces a user message: it and everything after it leave history, and a new turn starts. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { UserMessagePart } from "../../domain/chats/message-parts.js";
import type { Command } from "../../domain/chats/transition.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findMessage } from "../../store/chats/messages.js";
import { MessageGone } from "../../store/chats/transitions.js";
import { applyToFamily, stopBelow } from "../../engine/transitions/apply-family.js";
import type { ChatChanged, CommandRefusal, CommandResult } from "../common/command-result.js";
import {
  checkModel,
  checkParts,
  notFound,
  refusalOf,
  refuse,
  findVisibleChat,
  type CommandDependencies,
} from "../common/command-dependencies.js";
import { transferredFileBytes, attachFilesStep, resolveAttachments } from "./attachments.js";
import { checkPersonalKey } from "../models/model-keys.js";
import { checkSelection } from "../mcp/selection.js";
import { bytesOfParts, checkStorage, sequence, type TransactionStep } from "../files/storage-check.js";
import { refusalOfRollback } from "../common/rolled-back.js";
import { checkUsageLimit } from "../usage/usage-limit-check.js";

export type EditMessageInput = {
  messageId: string;
  parts: UserMessagePart[];
  modelConfigId?: string;
  /** The chat's MCP servers from this message on; absent = unchanged. */
  mcpServerIds?: string[];
};

type Edited = ChatChanged & { message: MessageRow };

export async function editMessage(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: EditMessageInput,
): Promise<CommandResult<Edited>> {
  const refusal = checkParts(input.parts) ?? (await checkModel(dependencies, input.modelConfigId));
  if (refusal) return refuse(refusal);
  const old = await findMessage(dependencies.database, viewer, input.messageId);
  if (!old) return notFound("message", "messageId");
  if (old.role !== "user") return refuse(NOT_A_USER_MESSAGE);
  const selected = await checkSelection(dependencies.mcpSelection, input.mcpServerIds);
  if (!selected.ok) return selected;
  const known = await findVisibleChat(dependencies, viewer, old.chatId);
  if (!known) return notFound("message", "messageId");
  const modelConfigId = input.modelConfigId ?? old.modelConfigId;
  const asked = { chatId: old.chatId, modelConfigId: modelConfigId ?? undefined, ownerId: known.ownerId };
  const unpaid =
    (await checkPersonalKey(dependencies, asked)) ?? (await checkUsageLimit(dependencies, known.ownerId));
  if (unpaid) return refuse(unpaid);
  const attached = await resolveAttachments(dependencies.database, viewer, old.chatId, input.parts);
  if (!attached.ok) return attached;
  const { content } = attached;
  const addedBytes = bytesOfParts(content.parts) + transferredFileBytes(content, viewer, known.ownerId);
  const stored = await checkStorage(dependencies, known.ownerId, addedBytes);
  if (!stored.ok) return stored;
  const attach = attachFilesStep(content, old.chatId, dependencies.clock.now());
  const message = {
    parts: content.parts,
    authorId: viewer.userId,
    modelConfigId,
    reasoningEffort: old.reasoningEffort,
    mcpServerIds: selected.ids ?? null,
  };
  return commit(dependencies, old, message, sequence(attach, stored.verify));
}

const NOT_A_USER_MESSAGE: CommandRefusal = {
  code: "INVALID",
  message: "Only a user's message can be edited.",
  path: ["messageId"],
};

type EditCommand = Extract<Command, { type: "edit-message" }>;

async function commit(
  dependencies: CommandDependencies,
  { id: messageId, chatId }: Pick<MessageRow, "id"> & { chatId: string },
  message: EditCommand["message"],
  alongside: TransactionStep | undefined,
): Promise<CommandResult<Edited>> {
  try {
    const commands: Command[] = [{ type: "edit-message", messageId, message }];
    const result = await applyToFamily(dependencies, {
      ...{ chatId, commands, below: stopBelow },
      ...(alongside && { alongside }),
    });
    if (result.outcome === "refused") return refuse(refusalOf(result));
    if (result.outcome !== "changed") return notFound("message", "messageId");
    const edited = result.messages.findLast((row) => row.role === "user");
    if (!edited) return notFound("message", "messageId");
    return { ok: true, chatId, version: result.state.snapshotVersion, message: edited };
  } catch (error) {
    if (error instanceof MessageGone) return notFound("message", "messageId");
    return refusalOfRollback(error);
  }
}
