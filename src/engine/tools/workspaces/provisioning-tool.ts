/** How the tools about workspaces themselves get at the desk that does it. */
import { ToolError, type ToolContext, type ToolFacts } from "../tool.js";
import type { ProvisioningCall, WorkspaceProvisioning } from "./workspace-provisioning.js";

/** Longer than what a workspace may take to come up, so that the tool's own answer comes first. */
export const PROVISIONING_TIMEOUT_MS = 20 * 60_000;

export const mayProvision = ({ mayProvision }: ToolFacts): boolean => mayProvision;

export function requireProvisioning({ desk }: ToolContext): WorkspaceProvisioning {
  if (desk === undefined) throw new ToolError("Workspaces cannot be made or changed from this chat.");
  return desk;
}

export function provisioningCall(context: ToolContext): ProvisioningCall {
  return {
    key: context.idempotencyKey,
    signal: context.signal,
    say: (text) => context.output(`${text}\n`),
  };
}
