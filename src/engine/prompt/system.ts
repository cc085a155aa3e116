/**
 * System prompt of a turn. This is the only place that defines its order: text that all chats share comes first, so that
 * vendors can cache it, and the user's own prompt comes last.
 */
import type { SubagentKind } from "../../domain/chats/subagents.js";
import { promptBlock, sanitizePrompt } from "./sanitize.js";

const BASE_PROMPT = `You are a coding agent that works for a user through Parley. You help with software in a workspace: you read files, run commands and edit files with the tools you are given.

- Do what was asked, completely, and nothing beyond it. When the request is unclear and a wrong guess would be costly, ask.
- Look before you change: read the files concerned, follow the conventions you find there, and check your work by running what the project itself uses (tests, type check, linter).
- Prefer read_file over dumping files with shell commands, and edit_files over rewriting whole files.
- Independent tool calls belong in the same step; they run at the same time.
- Report plainly what you did and what you saw. If something failed or could not be checked, say so.
- Answer in the language of the user, in Markdown, briefly.`;

const WITH_WORKSPACE = `This chat has a workspace. Your tools act there; relative paths start at its working directory.`;

const WITHOUT_WORKSPACE = `This chat has no workspace, so tools that read files or run commands are not available. If the request needs them, tell the user to start a chat with a workspace.`;

const MAY_HAVE_WORKSPACE = `This chat has no workspace yet, so tools that read files or run commands are not available. If the request needs them, look at list_templates and call create_workspace first; those tools are there afterwards.`;

/** Whether the chat has a workspace that can be used. `why` says what to do instead. */
export type WorkspaceStatus =
  { kind: "none"; mayProvision: boolean } | { kind: "usable" } | { kind: "unusable"; why: string };

function workspaceText(workspace: WorkspaceStatus): string {
  switch (workspace.kind) {
    case "usable":
      return WITH_WORKSPACE;
    case "unusable":
      return `This chat has a workspace, but it cannot be used now. ${workspace.why}`;
    case "none":
      return workspace.mayProvision ? MAY_HAVE_WORKSPACE : WITHOUT_WORKSPACE;
  }
}

const SUBAGENT = `You are a subagent: another agent has given you a task, and works on beside you. The messages that look like a user's are from that agent.

- Do this task and nothing else. Other agents may be changing other files of the same workspace at the same time; leave those alone.
- No one can answer questions while you work. Where something is unclear, take the most likely reading and say so.
- Your last message is your report, and all that the other agent sees of your work: what you did or found, where (files and lines), how you checked it, and what is left open.`;

const EXPLORER = `Your tools only look. Change nothing; if something ought to be changed, say what and where in your report.`;

type SystemPromptInput = {
  /** The operators' prompt; empty = none. */
  deployment: string;
  /** System messages stored in the chat. */
  history: string[];
  workspace: WorkspaceStatus;
  /** Null for a chat that a user started. */
  subagentKind: SubagentKind | null;
  /** From `workspacePrompt`; empty = none. */
  workspaceContext: string;
  /** The owner's prompt for all of their chats; empty = none. */
  customPrompt: string;
};

export function systemPrompt(input: SystemPromptInput): string {
  const customPrompt = sanitizePrompt(input.customPrompt);
  return [
    BASE_PROMPT,
    sanitizePrompt(input.deployment),
    ...input.history,
    workspaceText(input.workspace),
    input.subagentKind === null ? "" : SUBAGENT,
    input.subagentKind === "explore" ? EXPLORER : "",
    input.workspaceContext,
    customPrompt === "" ? "" : promptBlock("user-instructions", customPrompt),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}
