/** Ports and types of subagents: their dependencies, the calling agent, and the actions it has. */
import type { ReasoningEffort } from "../../domain/chats/message-parts.js";
import type { AgentStatus, SubagentKind } from "../../domain/chats/subagents.js";
import type { ModelChoice } from "../../services/models/models.js";
import type { TransitionDependencies } from "../transitions/apply-transition.js";

export type SubagentDependencies = TransitionDependencies & {
  /** Levels of subagents: 1 = only chats of users have some, 0 = none has. */
  maxDepth: number;
  chooseModel(configId: string | null, ownerId: string): Promise<ModelChoice>;
  /** The deployment's small model, used by "explore" subagents; null = there is none. */
  smallModelConfigId(): Promise<string | null>;
};

/** The chat whose agent makes a call, its current run, and the settings of its turn, which a subagent inherits. */
export type SubagentCaller = {
  chatId: string;
  rootChatId: string;
  ownerId: string;
  /** The run that makes the call; a call from an earlier run does nothing. */
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
export type AgentWithStatus = Agent & { status: AgentStatus };
export type ListedAgent = Agent & { status: "working" | "at_rest" | "failed" | "archived" };

export type SpawnRequest = {
  task: string;
  /** Absent = the first words of the task. */
  title?: string;
  kind: SubagentKind;
};

/** `queue`: after the turn that is running; `interrupt`: instead of it. */
export type AgentMessage = { text: string; whenBusy: "queue" | "interrupt" };

/** Actions of one chat's agent. `key` identifies the tool call, also when it is repeated. */
export interface Agents {
  spawn(request: SpawnRequest, key: string): Promise<Answer<{ agent: Agent }>>;
  /** Resolves when the subagent has settled, or the time is over. Rejects with the signal's reason. */
  wait(
    chatId: string,
    limits: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Answer<{ agent: AgentWithStatus }>>;
  /** `isQueued`: it is sent once the subagent's current turn has settled. */
  message(
    chatId: string,
    message: AgentMessage,
    key: string,
  ): Promise<Answer<{ agent: Agent; isQueued: boolean }>>;
  /** Stops the subagent and all below it; then its queued messages are sent. */
  interrupt(chatId: string): Promise<Answer<{ agent: Agent; wasWorking: boolean }>>;
  /** All subagents below the calling chat, in order of creation. */
  list(): Promise<ListedAgent[]>;
}

/** For a chat that is not below the calling one, and for one that does not exist. */
export const NOT_BELOW: { ok: false; message: string } = {
  ok: false,
  message: "There is no such subagent of this chat. list_agents shows those that there are.",
};

/** For a call that comes after its turn was stopped. */
export const STOPPED: { ok: false; message: string } = {
  ok: false,
  message: "The turn that asked for this has been stopped.",
};
