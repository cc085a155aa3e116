/** A person says something else instead: the message and all after it leave history, and the turn starts anew. */
import type { MessageRow } from "../../domain/chat-events.js";
import type { MessagePart } from "../../domain/message-parts.js";
import type { Viewer } from "../../domain/viewer.js";
import { findMessage } from "../../store/messages.js";
import { MessageGone } from "../../store/transitions.js";
import { applyTransition } from "../state/apply-transition.js";
import type { ChatChanged, CommandResult } from "./chat-commands.js";
import { checkModel, checkParts, notFound, refusalOf, refuse, type CommandParts } from "./command-parts.js";

type Edited = ChatChanged & { message: MessageRow };
type EditInput = { messageId: string; parts: MessagePart[]; modelConfigId?: string };

export async function editMessage(
  parts: CommandParts,
  viewer: Viewer,
  input: EditInput,
): Promise<CommandResult<Edited>> {
  const refusal = checkParts(input.parts) ?? (await checkModel(parts, input.modelConfigId));
  if (refusal) return refuse(refusal);
  const old = await findMessage(parts.database, viewer, input.messageId);
  if (!old) return notFound("message", "messageId");
  if (old.role !== "user") {
    return refuse({
      code: "INVALID",
      message: "Only a person's message can be edited.",
      path: ["messageId"],
    });
  }
  const message = {
    parts: input.parts,
    authorId: viewer.userId,
    modelConfigId: input.modelConfigId ?? old.modelConfigId,
    reasoningEffort: old.reasoningEffort,
  };
  try {
    const commands = [{ type: "edit-message" as const, messageId: input.messageId, message }];
    const result = await applyTransition(parts, { chatId: old.chatId, commands });
    if (result.outcome === "refused") return refuse(refusalOf(result));
    const edited =
      result.outcome === "changed" ? result.messages.findLast((row) => row.role === "user") : undefined;
    if (result.outcome !== "changed" || !edited) return notFound("message", "messageId");
    return { ok: true, chatId: old.chatId, version: result.state.snapshotVersion, message: edited };
  } catch (error) {
    if (error instanceof MessageGone) return notFound("message", "messageId");
    throw error;
  }
}
