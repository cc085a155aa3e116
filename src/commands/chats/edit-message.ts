/** A person says something else instead: the message and all after it leave history, and the turn starts anew. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { findMessage } from "../../store/chats/messages.js";
import { MessageGone } from "../../store/chats/transitions.js";
import { applyToFamily, stopBelow } from "../../engine/transitions/apply-family.js";
import type { ChatChanged, CommandResult, EditMessageInput } from "./chat-commands.js";
import {
  checkModel,
  checkParts,
  notFound,
  refusalOf,
  refuse,
  seeChat,
  type CommandDependencies,
} from "../common/command-dependencies.js";
import { foreignFileBytes, givingFiles, readAttachments } from "./attachments.js";
import { checkKey } from "../models/model-keys.js";
import { checkSelection } from "../mcp/selection.js";
import { bytesOfParts, checkStorage, inTurn } from "../files/storage-check.js";
import { refusalOfUndone } from "../common/rolled-back.js";
import { checkUsageLimit } from "../usage/usage-limit-check.js";

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
  if (old.role !== "user") {
    return refuse({
      code: "INVALID",
      message: "Only a person's message can be edited.",
      path: ["messageId"],
    });
  }
  const selected = await checkSelection(dependencies.mcpSelection, input.mcpServerIds);
  if (!selected.ok) return selected;
  const known = await seeChat(dependencies, viewer, old.chatId);
  if (!known) return notFound("message", "messageId");
  const modelConfigId = input.modelConfigId ?? old.modelConfigId ?? undefined;
  const unpaid =
    (await checkKey(dependencies, { chatId: old.chatId, modelConfigId, ownerId: known.ownerId })) ??
    (await checkUsageLimit(dependencies, known.ownerId));
  if (unpaid) return refuse(unpaid);
  const attached = await readAttachments(dependencies.database, viewer, old.chatId, input.parts);
  if (!attached.ok) return attached;
  const { said } = attached;
  const addedBytes = bytesOfParts(said.parts) + foreignFileBytes(said, viewer, known.ownerId);
  const stored = await checkStorage(dependencies, known.ownerId, addedBytes);
  if (!stored.ok) return stored;
  const alongside = inTurn(givingFiles(said, old.chatId, dependencies.clock.now()), stored.verify);
  const message = {
    parts: said.parts,
    authorId: viewer.userId,
    modelConfigId: input.modelConfigId ?? old.modelConfigId,
    reasoningEffort: old.reasoningEffort,
    mcpServerIds: selected.ids ?? null,
  };
  try {
    const commands = [{ type: "edit-message" as const, messageId: input.messageId, message }];
    const result = await applyToFamily(dependencies, {
      ...{ chatId: old.chatId, commands, below: stopBelow },
      ...(alongside && { alongside }),
    });
    if (result.outcome === "refused") return refuse(refusalOf(result));
    const edited =
      result.outcome === "changed" ? result.messages.findLast((row) => row.role === "user") : undefined;
    if (result.outcome !== "changed" || !edited) return notFound("message", "messageId");
    return { ok: true, chatId: old.chatId, version: result.state.snapshotVersion, message: edited };
  } catch (error) {
    if (error instanceof MessageGone) return notFound("message", "messageId");
    return refusalOfUndone(error);
  }
}
