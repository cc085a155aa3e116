/** Common parts of the provisioning tools: when they are offered, their port, and their timeout. */
import { ToolError, type ToolContext, type ToolFacts } from "../tool.js";
import type { ProvisioningCall, WorkspaceProvisioning } from "./workspace-provisioning.js";

/** Longer than a workspace may take to start, so that the tool's own answer comes first. */
export const PROVISIONING_TIMEOUT_MS = 20 * 60_000;

export const isProvisioningAvailable = ({ mayProvision }: ToolFacts): boolean => mayProvision;

/** Throws a `ToolError` where the chat may not provision. */
export function requireProvisioning({ provisioning }: ToolContext): WorkspaceProvisioning {
  if (provisioning === undefined) throw new ToolError("Workspaces cannot be made or changed from this chat.");
  return provisioning;
}

export function provisioningCall(context: ToolContext): ProvisioningCall {
  return {
    key: context.idempotencyKey,
    signal: context.signal,
    report: (text) => context.output(`${text}\n`),
  };
}
