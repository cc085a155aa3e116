/** Deletes the viewer's token for a git host. */
import type { Viewer } from "../../domain/users/viewer.js";
import { disconnectGitHost as deleteGitConnection } from "../../store/git/git-connections.js";
import type { CommandResult } from "../common/command-result.js";
import { notFound, type CommandDependencies } from "../common/command-dependencies.js";

export async function disconnectGitHost(
  dependencies: CommandDependencies,
  viewer: Viewer,
  connectionId: string,
): Promise<CommandResult<{ connectionId: string }>> {
  const isGone = await deleteGitConnection(dependencies.database, viewer.userId, connectionId);
  return isGone ? { ok: true, connectionId } : notFound("git host account", "accountId");
}
