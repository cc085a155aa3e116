/**
 * Subagents: chats that an agent starts to have parts of its work done beside it. Who may start one, and what may be
 * told of one. Pure.
 */
import type { ChatState } from "./chat-state.js";
import type { MessagePart, MessageRole } from "./message-parts.js";

/** `general` can do what its parent can; `explore` looks and changes nothing. */
export const SUBAGENT_KINDS = ["general", "explore"] as const;
export type SubagentKind = (typeof SUBAGENT_KINDS)[number];

/** Of one chat, at work at the same time: more than a model keeps in view, and each costs a turn. */
export const MAX_BUSY_SUBAGENTS = 8;
/** In one family, for good. What is asked of the one at rest again costs no new one. */
export const MAX_FAMILY_SUBAGENTS = 64;
/** Of the task, and of each message to a subagent; what is longer belongs into a file. */
export const MAX_TASK_CHARACTERS = 100_000;

/** How long a wait lasts that says nothing of it, and the longest, in seconds. */
export const DEFAULT_WAIT_SECONDS = 300;
export const MAX_WAIT_SECONDS = 3_600;

/** Whether a chat's agent is offered the tools for subagents at all. `maxDepth` 0: nobody is. */
export function mayHaveSubagents(
  chat: { depth: number; subagentKind: SubagentKind | null },
  maxDepth: number,
): boolean {
  return chat.subagentKind !== "explore" && chat.depth < maxDepth;
}

/** A member of a family, as far as these rules go. */
export type Relative = {
  chatId: string;
  parentId: string | null;
  status: ChatState["status"];
  isArchived: boolean;
  /** The hold of whoever runs it; null = nobody does. */
  runnerId: string | null;
};

export type SpawnRequest = {
  /** The chat whose agent asks, from which hold on it, and how deep it is. */
  caller: { chatId: string; runnerId: string | null; depth: number; subagentKind: SubagentKind | null };
  /** The whole family as it stands. */
  family: readonly Relative[];
  maxDepth: number;
};

/** Why there is to be no new subagent now, worded for the model; null = there may be one. */
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

/** A subagent as it stands at one moment: its state and the last thing that both people and the model see in it. */
export type SubagentSnapshot = {
  state: Pick<ChatState, "status" | "isArchived" | "queuedIds" | "lastError">;
  last: { role: MessageRole; parts: readonly MessagePart[] } | null;
};

/** How a subagent stands, for the agent above it. */
export type AgentStatus =
  | { status: "working" }
  /** `report`: its last words; empty when it had none. */
  | { status: "finished"; report: string }
  /** Stopped before it could answer the last thing it was told. */
  | { status: "interrupted" }
  /** `failure` is worded for people. */
  | { status: "failed"; failure: string; report: string }
  | { status: "archived" };

/**
 * What the subagent has to say. A report is only ever an answer that stands behind everything the subagent was told:
 * while a message waits or is being answered it is at work, and where the last message has no answer there is no
 * report. Places in history decide, never clocks.
 */
export function agentStatusOf({ state, last }: SubagentSnapshot): AgentStatus {
  if (isBusy(state.status)) return { status: "working" };
  if (state.isArchived) return { status: "archived" };
  const answered = last?.role === "assistant" && state.queuedIds.length === 0;
  const report = answered ? wordsOf(last.parts) : "";
  if (state.status === "error") {
    return { status: "failed", failure: state.lastError?.message ?? "It failed.", report };
  }
  const isWhole = answered && !last.parts.some(({ type }) => type === "tool-call");
  return isWhole ? { status: "finished", report } : { status: "interrupted" };
}

function wordsOf(parts: readonly MessagePart[]): string {
  return parts
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("")
    .trim();
}
