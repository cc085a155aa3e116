/**
 * What a command returns. A refusal that the user can act on is a value; a command throws only for bugs and failing
 * infrastructure, and `Forbidden` for users who lack the role.
 */
import type { ChatStatus } from "../../domain/chats/chat-state.js";
import type { WorkspaceStatus } from "../../domain/workspaces/workspace.js";

/**
 * A refusal. `path` names the input field, from the input object's root; `currentStatus` goes with CONFLICT, `what`
 * with UNAVAILABLE.
 */
export type CommandRefusal = {
  code:
    | "INVALID"
    | "NOT_FOUND"
    | "CONFLICT"
    | "LIMIT_EXCEEDED"
    | "AUTH_REQUIRED"
    | "KEY_REQUIRED"
    | "UNAVAILABLE";
  message: string;
  path?: string[];
  currentStatus?: ChatStatus;
  /** With UNAVAILABLE, of a workspace. */
  workspaceStatus?: WorkspaceStatus;
  /** Further problems of the same input. */
  others?: CommandRefusal[];
  /** With AUTH_REQUIRED: the MCP servers that need the user's authorization. */
  serverIds?: readonly string[];
  /** With KEY_REQUIRED: the model provider that needs the user's own key. */
  providerId?: string;
  /** What is unavailable; a workspace when absent. */
  what?: "model" | "mcp-server" | "usage-limit" | "git-host" | "storage";
  /** With LIMIT_EXCEEDED: the chat's owner has reached their spending limit. Microdollars. */
  usage?: { spentMicros: bigint; limitMicros: bigint; resetsAt: Date };
  /** With LIMIT_EXCEEDED: the user has reached their storage limit. */
  storage?: { usedBytes: bigint; limitBytes: bigint };
};

export type CommandResult<T> = ({ ok: true } & T) | { ok: false; refusal: CommandRefusal };

/** `version` is the chat's snapshot at which the change is visible. */
export type ChatChanged = { chatId: string; version: number };
