/** The payload of mutations that return a workspace. */
import type { CommandResult } from "../../commands/common/command-result.js";
import type { Workspace } from "../../schema/workspaces/workspace.type.js";
import type { Context } from "../common/context.js";
import { toWorkspace } from "../common/shapes.js";
import { toUserErrors } from "../common/user-errors.js";

/** The workspace in its current state, or why the command was refused. */
export async function workspacePayload(
  result: CommandResult<{ workspaceId: string }>,
  context: Context,
): Promise<{ workspace: Workspace | null; userErrors: ReturnType<typeof toUserErrors> }> {
  if (!result.ok) return { workspace: null, userErrors: toUserErrors(result.refusal) };
  context.loaders.forget();
  const record = await context.loaders.workspaces.load(result.workspaceId);
  return { workspace: record && toWorkspace(record), userErrors: [] };
}
