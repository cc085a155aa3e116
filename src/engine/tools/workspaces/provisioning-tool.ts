/** How the tools about workspaces themselves get at the desk that does it. */
import { ToolError, type ToolContext, type ToolFacts } from "../tool.js";
import type { DeskCall, WorkspaceDesk } from "./workspace-provisioning.js";

/** Longer than what a workspace may take to come up, so that the tool's own answer comes first. */
export const PROVISIONING_TIMEOUT_MS = 20 * 60_000;

export const isOfferedAtDesk = ({ mayProvision }: ToolFacts): boolean => mayProvision;

export function deskOf({ desk }: ToolContext): WorkspaceDesk {
  if (desk === undefined) throw new ToolError("Workspaces cannot be made or changed from this chat.");
  return desk;
}

export function deskCall(context: ToolContext): DeskCall {
  return {
    key: context.idempotencyKey,
    signal: context.signal,
    say: (text) => context.output(`${text}\n`),
  };
}
