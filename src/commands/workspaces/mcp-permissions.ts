/** Commands that give and take back permission for entries of a workspace's `.mcp.json`. */
import { auditedEntry, visibleText } from "../../domain/mcp/entry-display.js";
import { MAX_ALLOWED_ENTRIES } from "../../domain/mcp/workspace-entry.js";
import { encodeId } from "../../domain/common/ids.js";
import { auditChanges, type AuditAction, type AuditEntry } from "../../domain/users/audit.js";
import type { Actor } from "../../domain/users/viewer.js";
import type { Queryable } from "../../store/common/database.js";
import { recordAudit } from "../../store/users/audit-log.js";
import {
  advanceMcpRevision,
  allowMcpEntry,
  countAllowedMcpEntries,
  forbidMcpEntry,
  lockMcpEntry,
  type WorkspaceMcpEntryRecord,
} from "../../store/workspaces/workspace-mcp-entries.js";
import { findWorkspace } from "../../store/workspaces/workspaces.js";
import { notFound, refuse } from "../common/command-dependencies.js";
import type { CommandRefusal, CommandResult } from "../common/command-result.js";
import type { WorkspaceDependencies } from "./workspace-dependencies.js";

/** An entry, by its hash, of a workspace that the actor may use. */
export type McpEntryInput = { workspaceId: string; hash: string };

/**
 * Allows an entry that asks for permission: its agent may start it from now on, in this workspace, as long as it does not
 * change. Does nothing when it is allowed already.
 */
export async function allowMcpServer(
  dependencies: WorkspaceDependencies,
  actor: Actor,
  input: McpEntryInput,
): Promise<CommandResult<{ workspaceId: string }>> {
  return changePermission(dependencies, actor, input, async (transaction, found) => {
    if (found.allowedAt !== null) return "unchanged";
    const allowed = await countAllowedMcpEntries(transaction, input.workspaceId);
    if (allowed >= MAX_ALLOWED_ENTRIES) return TOO_MANY;
    await allowMcpEntry(transaction, input, { at: dependencies.clock.now(), userId: actor.userId });
    return "workspace_mcp_server_allowed";
  });
}

/** Takes a permission back: its server ends, with the calls that run. Does nothing when it is not allowed. */
export async function forbidMcpServer(
  dependencies: WorkspaceDependencies,
  actor: Actor,
  input: McpEntryInput,
): Promise<CommandResult<{ workspaceId: string }>> {
  return changePermission(dependencies, actor, input, async (transaction, found) => {
    if (found.allowedAt === null) return "unchanged";
    await forbidMcpEntry(transaction, input);
    return "workspace_mcp_server_forbidden";
  });
}

const TOO_MANY: CommandRefusal = {
  code: "LIMIT_EXCEEDED",
  message: `A workspace has at most ${MAX_ALLOWED_ENTRIES} allowed MCP servers. Forbid one first.`,
  path: ["hash"],
};

type Change = (
  transaction: Queryable,
  found: WorkspaceMcpEntryRecord,
) => Promise<AuditAction | "unchanged" | CommandRefusal>;

/** One transaction with its audit entry; then the agent receives the permissions. */
async function changePermission(
  dependencies: WorkspaceDependencies,
  actor: Actor,
  { workspaceId, hash }: McpEntryInput,
  change: Change,
): Promise<CommandResult<{ workspaceId: string }>> {
  const workspace = await findWorkspace(dependencies.database, actor, workspaceId);
  if (workspace === null) return notFound("workspace", "workspaceId");
  const result = await dependencies.database.transaction(async (transaction) => {
    await advanceMcpRevision(transaction, workspaceId);
    const found = await lockMcpEntry(transaction, workspaceId, hash);
    if (found === null) return notFound("MCP server", "hash");
    const changed = await change(transaction, found);
    if (typeof changed === "object") return refuse(changed);
    if (changed === "unchanged") return { ok: true as const, isChanged: false };
    const { userId, username: name, requestId } = actor;
    await recordAudit(transaction, { userId, name, requestId }, auditEntry(changed, workspace, found));
    return { ok: true as const, isChanged: true };
  });
  if (!result.ok) return result;
  if (result.isChanged) dependencies.applyMcpPermissions(workspaceId);
  return { ok: true, workspaceId };
}

function auditEntry(
  action: AuditAction,
  workspace: { id: string; name: string },
  { hash, entry }: WorkspaceMcpEntryRecord,
): AuditEntry {
  const shown = { server: visibleText(entry.name), hash, ...auditedEntry(entry) };
  const isAllowed = action === "workspace_mcp_server_allowed";
  const changes = auditChanges(isAllowed ? null : shown, isAllowed ? shown : null);
  return { action, targetId: encodeId("ws", workspace.id), targetName: workspace.name, changes };
}
