/** A person takes a git host's token away. */
import type { Viewer } from "../../domain/viewer.js";
import { disconnectGitHost as forgetGitConnection } from "../../store/git-connections.js";
import type { CommandResult } from "./chat-commands.js";
import { notFound, type CommandParts } from "./command-parts.js";

export async function disconnectGitHost(
  parts: CommandParts,
  viewer: Viewer,
  connectionId: string,
): Promise<CommandResult<{ connectionId: string }>> {
  const isGone = await forgetGitConnection(parts.database, viewer.userId, connectionId);
  return isGone ? { ok: true, connectionId } : notFound("git host account", "accountId");
}
