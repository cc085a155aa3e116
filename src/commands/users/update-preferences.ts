/** Changes the viewer's preferences for all their chats. */
import type { Viewer } from "../../domain/users/viewer.js";
import { readPreferences, setPreferences, type Preferences } from "../../store/users/users.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import { refuse, type CommandDependencies } from "../common/command-dependencies.js";

/** UTF-8 bytes. It is part of every model call; longer instructions belong in the workspace's instruction files. */
const MAX_CUSTOM_PROMPT_BYTES = 128 * 1024;

/** Absent = unchanged. */
export type UpdatePreferencesInput = {
  /** Empty = none. */
  customPrompt?: string;
  /** Null = the deployment's default. */
  defaultModelConfigId?: string | null;
};

export async function updatePreferences(
  dependencies: CommandDependencies,
  viewer: Viewer,
  input: UpdatePreferencesInput,
): Promise<CommandResult<{ preferences: Preferences }>> {
  const refusal = await check(dependencies, input);
  if (refusal) return refuse(refusal);
  const { customPrompt, ...rest } = input;
  // PostgreSQL text cannot contain a zero character.
  const prompt =
    customPrompt === undefined
      ? {}
      : { customPrompt: dependencies.sanitizePrompt(customPrompt.replaceAll("\u0000", "")) };
  await setPreferences(dependencies.database, viewer.userId, { ...rest, ...prompt });
  dependencies.forgetPreferences(viewer.userId);
  return { ok: true, preferences: await readPreferences(dependencies.database, viewer.userId) };
}

async function check(
  dependencies: CommandDependencies,
  input: UpdatePreferencesInput,
): Promise<CommandRefusal | null> {
  const { customPrompt, defaultModelConfigId } = input;
  if (customPrompt !== undefined && Buffer.byteLength(customPrompt) > MAX_CUSTOM_PROMPT_BYTES) {
    const message = `A prompt has at most ${MAX_CUSTOM_PROMPT_BYTES} bytes.`;
    return { code: "INVALID", message, path: ["customPrompt"] };
  }
  if (defaultModelConfigId == null || (await dependencies.isModelSelectable(defaultModelConfigId)))
    return null;
  const message = "There is no such model, or it is disabled.";
  return { code: "INVALID", message, path: ["defaultModelConfigId"] };
}
