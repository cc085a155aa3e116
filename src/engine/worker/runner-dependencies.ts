/** Everything that a runner reaches outside itself. Required, all of it. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { TurnMeter } from "../../domain/common/meters.js";
import type { StoredFile } from "../../domain/chats/message-parts.js";
import type { Traces } from "../../domain/common/traces.js";
import type { Rest } from "../../domain/push/push.js";
import type { ToolFile } from "../../domain/chats/tool-outcome.js";
import type { Bus } from "../../events/bus/bus.js";
import type { Log } from "../../lib/log.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import type { CallRecorder } from "../../services/models/call-records.js";
import type { McpTurnServers } from "../mcp/turn-servers.js";
import type { ModelChoice, TurnModel } from "../../services/models/models.js";
import type { SettledChat } from "../../services/push/notifier.js";
import type { Subagents } from "../subagents/subagents.js";
import type { TransitionDependencies } from "../transitions/apply-transition.js";
import type { StorageLimits } from "../../services/files/storage-limits.js";
import type { UsageLimits } from "../../services/usage/usage-limits.js";
import type { Tool } from "../tools/tool.js";
import type { WorkspaceProvisioning } from "../tools/workspaces/workspace-provisioning.js";
import type { WorkspaceContext } from "../../services/workspaces/workspace-contexts.js";

/** A chat as workspaces know it. `ancestorChatIds`: nearest first; what runs for a chat is theirs to see as well. */
export type ChatReference = { chatId: string; ancestorChatIds: readonly string[]; ownerId: string };

export type RunnerDependencies = TransitionDependencies & {
  bus: Bus;
  log: Log;
  meter: TurnMeter;
  traces: Traces;
  /** Keeps what models are asked, where that is switched on. */
  callRecords: CallRecorder;
  /** The shortest time between two announcements of one turn, as it is now. */
  deltaIntervalMs: () => number;
  /** In [0, 1); for jitter. */
  random: () => number;
  tools: readonly Tool[];
  /** Model calls that one turn may make. */
  maxStepsPerTurn: number;
  /** Milliseconds for a client to answer calls of its tools that have no limit of their own; 0 = no deadline. */
  clientToolTimeoutMs: number;
  /** `ownerId`: whose key pays where people bring their own. */
  chooseModel(configId: string | null, ownerId: string): Promise<ModelChoice>;
  /** Tokens that fit into the model, asked of the vendor when nobody has said; null = unknown. Never rejects. */
  contextLimitOf(model: TurnModel): Promise<number | null>;
  /** Keeps what a vendor's refusal showed of a model's limit. Never rejects. */
  observeContextLimit(model: TurnModel, tokens: number): Promise<void>;
  /** The operators' own prompt; empty = none. */
  deploymentPrompt(): Promise<string>;
  /** The person's own addition to every system prompt; empty = none. */
  customPrompt(ownerId: string): Promise<string>;
  /** What people may spend. */
  usageLimits: Pick<UsageLimits, "admit">;
  /** What users may store. */
  storage: Pick<StorageLimits, "whyNoTurn">;
  /** False for somebody who was deactivated. */
  isOwnerActive(ownerId: string): Promise<boolean>;
  /** A turn begins with this history. Returns at once and never throws. */
  onTurnStart(chat: ClaimedChat, history: MessageRow[]): void;
  /** A turn has come to rest, and not by an interrupt. Returns at once and never throws. */
  onTurnSettled(chat: SettledChat, rest: Rest): void;
  /** Rejects with a ToolError worded for the model when the workspace cannot be used. */
  openWorkspace(workspaceId: string, chat: ChatReference): Promise<AgentConnection>;
  /** What agents do with agents below them. */
  subagents: Pick<Subagents, "of" | "ancestorsOf" | "maxDepth" | "waitingChats">;
  /** Workspaces themselves, as turns use and change them. */
  workspaces: {
    /** Why no agent can be asked there now, for the model; null = one can, as far as is known. */
    whyUnusable(workspaceId: string): Promise<string | null>;
    /** They are in use now. Returns at once and never throws. */
    noteUse(workspaceIds: Iterable<string>): void;
    /** Whether there is anything that a workspace could be made from. */
    canProvision(): Promise<boolean>;
    /** `bind` is told of the workspace in which the turn goes on. */
    provisioningFor(chat: ClaimedChat, bind: (workspaceId: string) => void): WorkspaceProvisioning;
  };
  /** What the workspace tells about itself; null when it cannot be asked. Never rejects. */
  readWorkspaceContext(
    workspaceId: string,
    connect: () => Promise<AgentConnection>,
  ): Promise<WorkspaceContext | null>;
  /** The tools of the workspace's own tool servers; none when it cannot be asked. Never rejects. */
  listWorkspaceTools(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<readonly Tool[]>;
  /** The registered tool servers. */
  toolServers: Pick<McpTurnServers, "begin">;
  /** Every message the model may see, oldest first. */
  readHistory(chatId: string): Promise<MessageRow[]>;
  /** Keeps what a tool gave as the chat's files, all or none, in their order. */
  keepFiles(chat: Pick<ClaimedChat, "chatId" | "ownerId">, files: readonly ToolFile[]): Promise<StoredFile[]>;
  /** Bytes of the chat's files by id; what is missing is not in the map. */
  readFiles(chatId: string, fileIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
};
