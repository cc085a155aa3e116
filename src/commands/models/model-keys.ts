/** Whether a turn could be paid for, asked before a message is taken: better than a turn that fails. */
import { readChatModelId } from "../../store/chats/chat-metadata.js";
import type { CommandRefusal } from "../chats/chat-commands.js";
import type { CommandDependencies, ResolvedModel } from "../common/command-dependencies.js";

/** The model that a message would be answered by cannot be asked. */
export function modelRefusal({
  failure: { message },
  wantsKeyOf,
}: Extract<ResolvedModel, { ok: false }>): CommandRefusal {
  const path = ["modelConfigId"];
  if (wantsKeyOf === undefined) return { code: "UNAVAILABLE", message, path };
  return { code: "KEY_REQUIRED", message, path, providerId: wantsKeyOf };
}

type Asked = {
  chatId: string;
  modelConfigId?: string | undefined;
  /** Whose chat it is. */
  ownerId: string;
};

/**
 * Null unless the turn would lack a key of the chat's owner. Every other failure is the turn's to tell: it may have
 * passed by then. Where no provider takes people's own keys nothing is read.
 */
export async function checkKey(
  dependencies: CommandDependencies,
  { chatId, modelConfigId, ownerId }: Asked,
): Promise<CommandRefusal | null> {
  if (!(await dependencies.asksPersonalKeys())) return null;
  const configId = modelConfigId ?? (await readChatModelId(dependencies.database, chatId));
  const model = await dependencies.resolveModel(configId, ownerId);
  return model.ok || model.wantsKeyOf === undefined ? null : modelRefusal(model);
}
