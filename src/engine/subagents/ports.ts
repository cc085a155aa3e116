/** What subagents are made of: what they reach outside, who asks, and what an agent may do with its own. */
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import type { AgentStatus, SubagentKind } from "../../domain/chats/subagents.js";
import type { Bus } from "../../events/bus/bus.js";
import type { ModelChoice } from "../../services/models/models.js";
import type { TransitionDependencies } from "../transitions/apply-transition.js";

export type SubagentDependencies = Omit<TransitionDependencies, "bus"> & {
  bus: Bus;
  /** Subagents below one another: 1 = only people's chats have some, 0 = none has. */
  maxDepth: number;
  chooseModel(configId: string | null, ownerId: string): Promise<ModelChoice>;
  /** The deployment's small model, asked by those that only look; null = there is none. */
  smallModelConfigId(): Promise<string | null>;
};

/** The chat whose agent asks, the hold it asks from, and what its turn uses, which a subagent takes over. */
export type SubagentCaller = {
  chatId: string;
  rootChatId: string;
  ownerId: string;
  /** From which hold on the chat; a call from an earlier one does nothing. */
  runnerId: string | null;
  depth: number;
  subagentKind: SubagentKind | null;
  workspaceId: string | null;
  modelConfigId: string | null;
  reasoningEffort: ReasoningEffort | null;
  mcpServerIds: string[];
};

/** A refusal's `message` is worded for the model. */
export type Answer<T> = ({ ok: true } & T) | { ok: false; message: string };

/** `chatId`: the database's. */
export type Agent = { chatId: string; title: string; kind: SubagentKind };
export type AgentWithStatus = Agent & { standing: AgentStatus };
export type ListedAgent = Agent & { status: "working" | "at_rest" | "failed" | "archived" };

export type Wish = {
  task: string;
  /** Absent = the first words of the task. */
  title?: string;
  kind: SubagentKind;
};

/** The same for one chat's agent. `key` names the tool call for ever. */
export interface Agents {
  spawn(wish: Wish, key: string): Promise<Answer<{ agent: Agent }>>;
  /** Resolves when the subagent is not at work, or the time is over. Rejects with the signal's reason. */
  wait(
    chatId: string,
    limits: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Answer<{ agent: AgentWithStatus }>>;
  /** `isQueued`: it is said when the subagent has done what it is at. */
  tell(
    chatId: string,
    message: { text: string; whenBusy: "queue" | "interrupt" },
    key: string,
  ): Promise<Answer<{ agent: Agent; isQueued: boolean }>>;
  /** Stops the subagent and all below it; what waits in its queue is said then. */
  interrupt(chatId: string): Promise<Answer<{ agent: Agent; wasWorking: boolean }>>;
  /** All below the caller chat, in the order in which they came. */
  list(): Promise<ListedAgent[]>;
}

/** For a chat that is not below the one that asks, and for none at all. */
export const NOT_BELOW: { ok: false; message: string } = {
  ok: false,
  message: "There is no such subagent of this chat. list_agents shows those that there are.",
};

/** Where a call comes too late. */
export const STOPPED: { ok: false; message: string } = {
  ok: false,
  message: "The turn that asked for this has been stopped.",
};
