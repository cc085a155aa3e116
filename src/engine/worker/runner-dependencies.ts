/** Everything that a runner uses from outside. All of it is required. */
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { StoredFile } from "../../domain/chats/message-parts.js";
import type { ToolFile } from "../../domain/chats/tool-outcome.js";
import type { TurnMeter } from "../../domain/common/meters.js";
import type { Traces } from "../../domain/common/traces.js";
import type { SettledTurn } from "../../domain/push/push.js";
import type { Log } from "../../lib/log.js";
import type { StorageLimits } from "../../services/files/storage-limits.js";
import type { CallRecorder } from "../../services/models/call-records.js";
import type { ModelChoice, TurnModel } from "../../services/models/models.js";
import type { SettledChat } from "../../services/push/notifier.js";
import type { UsageLimits } from "../../services/usage/usage-limits.js";
import type { WorkspaceContext } from "../../services/workspaces/workspace-contexts.js";
import type { ClaimedChat } from "../../store/chats/leases.js";
import type { AgentConnection } from "../../workspaces/agent-client/agent-connection.js";
import type { McpTurnServers } from "../mcp/turn-servers.js";
import type { Subagents } from "../subagents/subagents.js";
import type { Tool } from "../tools/tool.js";
import type { WorkspaceProvisioning } from "../tools/workspaces/workspace-provisioning.js";
import type { TransitionDependencies } from "../transitions/apply-transition.js";

export type RunnerDependencies = TransitionDependencies & {
  log: Log;
  /** In [0, 1); for jitter. */
  random: () => number;
  model: ModelDependencies;
  tools: ToolDependencies;
  workspaces: WorkspaceDependencies;
  store: StoreDependencies;
  limits: LimitDependencies;
  events: EventDependencies;
  telemetry: TelemetryDependencies;
};

export type ModelDependencies = {
  /** `ownerId`: whose key pays where users bring their own. */
  choose(configId: string | null, ownerId: string): Promise<ModelChoice>;
  /** Tokens that fit into the model, asked of the vendor when it is not configured; null = unknown. Never rejects. */
  contextLimitOf(model: TurnModel): Promise<number | null>;
  /** Records the limit that a vendor's refusal revealed. Never rejects. */
  observeContextLimit(model: TurnModel, tokens: number): Promise<void>;
  /** The operators' own prompt; empty = none. */
  deploymentPrompt(): Promise<string>;
  /** The user's own addition to every system prompt; empty = none. */
  customPrompt(ownerId: string): Promise<string>;
};

export type ToolDependencies = {
  builtIn: readonly Tool[];
  subagents: Pick<Subagents, "of" | "ancestorsOf" | "maxDepth" | "waitingChats">;
  /** The registered MCP servers. */
  mcpServers: Pick<McpTurnServers, "begin">;
  /** Milliseconds for a client to answer calls of its tools that have no limit of their own; 0 = no deadline. */
  clientToolTimeoutMs: number;
};

/** The chat that a connection to a workspace is for. Its `ancestorChatIds`, nearest first, may see its processes too. */
export type ChatReference = { chatId: string; ancestorChatIds: readonly string[]; ownerId: string };

export type WorkspaceDependencies = {
  /** Rejects with a ToolError worded for the model when the workspace cannot be used. */
  open(workspaceId: string, chat: ChatReference): Promise<AgentConnection>;
  /** Null when the agent cannot be reached. Never rejects. */
  readContext(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<WorkspaceContext | null>;
  /** Tools of the workspace's own MCP servers; none when the agent cannot be reached. Never rejects. */
  listTools(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<readonly Tool[]>;
  /** Why the agent cannot be reached now, worded for the model; null = it can, as far as is known. */
  whyUnusable(workspaceId: string): Promise<string | null>;
  /** Marks workspaces as in use. Returns at once and never throws. */
  noteUse(workspaceIds: Iterable<string>): void;
  /** Whether there is a template that a workspace could be created from. */
  canProvision(): Promise<boolean>;
  /** `bind` is called with the workspace in which the turn continues. */
  provisioningFor(chat: ClaimedChat, bind: (workspaceId: string) => void): WorkspaceProvisioning;
};

export type StoreDependencies = {
  /** Every message the model may see, oldest first. */
  readHistory(chatId: string): Promise<MessageRow[]>;
  /** False for a deactivated user. */
  isOwnerActive(ownerId: string): Promise<boolean>;
  /** Stores files of a tool's result in the chat, all or none, in their order. */
  saveFiles(chat: Pick<ClaimedChat, "chatId" | "ownerId">, files: readonly ToolFile[]): Promise<StoredFile[]>;
  /** Bytes of the chat's files by id; missing files are not in the map. */
  readFiles(chatId: string, fileIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
};

export type LimitDependencies = {
  /** Model calls that one turn may make. */
  maxStepsPerTurn: number;
  usage: Pick<UsageLimits, "admit">;
  storage: Pick<StorageLimits, "whyNoTurn">;
};

export type EventDependencies = {
  /** Shortest time between two publications of one turn's deltas, in milliseconds, under the present load. */
  deltaIntervalMs: () => number;
  /** A turn starts with this history. Returns at once and never throws. */
  onTurnStart(chat: ClaimedChat, history: MessageRow[]): void;
  /** A turn has settled, other than by an interrupt. Returns at once and never throws. */
  onTurnSettled(chat: SettledChat, turn: SettledTurn): void;
};

export type TelemetryDependencies = {
  meter: TurnMeter;
  traces: Traces;
  /** Records model calls with their content, where that is enabled. */
  callRecords: CallRecorder;
};
