/** Checks before accepting a message that the turn's model has a key, instead of letting the turn fail. */
import { readChatModelId } from "../../store/chats/chat-metadata.js";
import type { CommandRefusal } from "../common/command-result.js";
import type { CommandDependencies, ResolvedModel } from "../common/command-dependencies.js";

/** The refusal for a message whose model cannot be called. */
export function modelRefusal({
  failure: { message },
  missingKeyProviderId,
}: Extract<ResolvedModel, { ok: false }>): CommandRefusal {
  const path = ["modelConfigId"];
  if (missingKeyProviderId === undefined) return { code: "UNAVAILABLE", message, path };
  return { code: "KEY_REQUIRED", message, path, providerId: missingKeyProviderId };
}

type Asked = {
  chatId: string;
  modelConfigId?: string | undefined;
  /** The chat's owner. */
  ownerId: string;
};

/**
 * Null unless the turn would lack a key of the chat's owner. Other failures are reported by the turn, as they may be
 * gone by then. Reads nothing when no provider uses personal keys.
 */
export async function checkPersonalKey(
  dependencies: CommandDependencies,
  { chatId, modelConfigId, ownerId }: Asked,
): Promise<CommandRefusal | null> {
  if (!(await dependencies.asksPersonalKeys())) return null;
  const configId = modelConfigId ?? (await readChatModelId(dependencies.database, chatId));
  const model = await dependencies.resolveModel(configId, ownerId);
  return model.ok || model.missingKeyProviderId === undefined ? null : modelRefusal(model);
}
