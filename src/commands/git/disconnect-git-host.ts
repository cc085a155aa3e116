/** A person takes a git host's token away. */
import type { Viewer } from "../../domain/users/viewer.js";
import { disconnectGitHost as forgetGitConnection } from "../../store/git/git-connections.js";
import type { CommandResult } from "../chats/chat-commands.js";
import { notFound, type CommandDependencies } from "../common/command-dependencies.js";

export async function disconnectGitHost(
  dependencies: CommandDependencies,
  viewer: Viewer,
  connectionId: string,
): Promise<CommandResult<{ connectionId: string }>> {
  const isGone = await forgetGitConnection(dependencies.database, viewer.userId, connectionId);
  return isGone ? { ok: true, connectionId } : notFound("git host account", "accountId");
}
