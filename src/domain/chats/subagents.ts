/** Subagents: chats that an agent starts to delegate work. Decides whether one may be started, and reports its status. Pure. */
import type { ChatState } from "./chat-state.js";
import type { MessagePart, MessageRole } from "./message-parts.js";

/** `general` can do what its parent can; `explore` is read-only. */
export const SUBAGENT_KINDS = ["general", "explore"] as const;
export type SubagentKind = (typeof SUBAGENT_KINDS)[number];

/** Working subagents per chat: more than a model can keep track of, and each costs a turn. */
export const MAX_BUSY_SUBAGENTS = 8;
/** Subagents per family, ever created. Giving an idle one another task needs no new one. */
export const MAX_FAMILY_SUBAGENTS = 64;
/** Characters of a task or a message to a subagent; anything longer belongs in a file. */
export const MAX_TASK_CHARACTERS = 100_000;

/** Default and maximum duration of a wait, in seconds. */
export const DEFAULT_WAIT_SECONDS = 300;
export const MAX_WAIT_SECONDS = 3_600;

/** Whether a chat's agent gets the subagent tools. `maxDepth` 0 disables them for all. */
export function mayHaveSubagents(
  chat: { depth: number; subagentKind: SubagentKind | null },
  maxDepth: number,
): boolean {
  return chat.subagentKind !== "explore" && chat.depth < maxDepth;
}

/** A member of a family, with the fields that these rules read. */
export type Relative = {
  chatId: string;
  parentId: string | null;
  status: ChatState["status"];
  isArchived: boolean;
  /** Identifies the claim of the worker that runs it; null = not running. */
  runnerId: string | null;
};

type SpawnRequest = {
  /** The chat whose agent asks, the claim it runs under, and its depth. */
  caller: { chatId: string; runnerId: string | null; depth: number; subagentKind: SubagentKind | null };
  /** The whole family. */
  family: readonly Relative[];
  maxDepth: number;
};

/** Why no subagent may be started now, worded for the model; null = one may. */
export function spawnRefusal({ caller, family, maxDepth }: SpawnRequest): string | null {
  if (!mayHaveSubagents(caller, maxDepth)) return "This agent may not start subagents of its own.";
  const self = family.find(({ chatId }) => chatId === caller.chatId);
  if (!self || self.isArchived || self.status !== "running" || self.runnerId !== caller.runnerId)
    return "The turn that asked for this has been stopped.";
  const children = family.filter(({ parentId }) => parentId === caller.chatId);
  const busy = children.filter(({ status }) => isBusy(status)).length;
  if (busy >= MAX_BUSY_SUBAGENTS) {
    return `${busy} subagents are at work already, which is the most. Wait for one of them with wait_agent, or stop one with interrupt_agent.`;
  }
  const total = family.filter(({ parentId }) => parentId !== null).length;
  if (total >= MAX_FAMILY_SUBAGENTS) {
    return `This chat has had ${total} subagents, which is the most. Give the task to one that is at rest, with message_agent; list_agents shows them.`;
  }
  return null;
}

export function isBusy(status: ChatState["status"]): boolean {
  return status !== "waiting" && status !== "error";
}

/** A subagent's state and its last message that both users and the model see. */
export type SubagentSnapshot = {
  state: Pick<ChatState, "status" | "isArchived" | "queuedIds" | "lastError">;
  last: { role: MessageRole; parts: readonly MessagePart[] } | null;
};

/** A subagent's status, for its parent agent. */
export type AgentStatus =
  | { status: "working" }
  /** `report`: the text of its last answer; may be empty. */
  | { status: "finished"; report: string }
  /** Stopped before it answered its last message. */
  | { status: "interrupted" }
  /** `failure` is worded for users. */
  | { status: "failed"; failure: string; report: string }
  | { status: "archived" };

/**
 * The status of a subagent. A report is only ever an answer that comes after every message to the subagent: while a
 * message is queued or being answered it is working, and where the last message has no answer there is no report. The
 * order of history decides, never clocks.
 */
export function agentStatusOf({ state, last }: SubagentSnapshot): AgentStatus {
  if (isBusy(state.status)) return { status: "working" };
  if (state.isArchived) return { status: "archived" };
  const answered = last?.role === "assistant" && state.queuedIds.length === 0;
  const report = answered ? textOf(last.parts) : "";
  if (state.status === "error") {
    return { status: "failed", failure: state.lastError?.message ?? "It failed.", report };
  }
  const isWhole = answered && !last.parts.some(({ type }) => type === "tool-call");
  return isWhole ? { status: "finished", report } : { status: "interrupted" };
}

function textOf(parts: readonly MessagePart[]): string {
  return parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("")
    .trim();
}
