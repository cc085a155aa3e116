/** Everything that a runner reaches outside itself. Required, all of it. */
import type { MessageRow } from "../../domain/chat-events.js";
import type { Bus } from "../../events/bus.js";
import type { Log } from "../../lib/log.js";
import type { HeldChat } from "../../store/leases.js";
import type { AgentConnection } from "../../workspaces/agent-connection.js";
import type { ModelChoice, TurnModel } from "../models.js";
import type { TransitionParts } from "../state/apply-transition.js";
import type { Tool } from "../tools/tool.js";
import type { WorkspaceContext } from "../workspace-contexts.js";

export type RunnerParts = TransitionParts & {
  bus: Bus;
  log: Log;
  /** The shortest time between two announcements of one turn, as it is now. */
  pieceIntervalMs: () => number;
  /** In [0, 1); for jitter. */
  random: () => number;
  tools: readonly Tool[];
  /** Model calls that one turn may make. */
  maxStepsPerTurn: number;
  chooseModel(configId: string | null): Promise<ModelChoice>;
  /** Tokens that fit into the model, asked of the vendor when nobody has said; null = unknown. Never rejects. */
  contextLimitOf(model: TurnModel): Promise<number | null>;
  /** Keeps what a vendor's refusal showed of a model's limit. Never rejects. */
  observeContextLimit(model: TurnModel, tokens: number): Promise<void>;
  /** The operators' own prompt; empty = none. */
  deploymentPrompt(): Promise<string>;
  /** The person's own addition to every system prompt; empty = none. */
  customPrompt(ownerId: string): Promise<string>;
  /** A turn begins with this history. Returns at once and never throws. */
  onTurnStart(chat: HeldChat, history: MessageRow[]): void;
  /** Rejects with a ToolError worded for the model when the workspace cannot be used. */
  openWorkspace(workspaceId: string, chatId: string): Promise<AgentConnection>;
  /** What the workspace tells about itself; null when it cannot be asked. Never rejects. */
  readWorkspaceContext(
    workspaceId: string,
    connect: () => Promise<AgentConnection>,
  ): Promise<WorkspaceContext | null>;
  /** The tools of the workspace's own tool servers; none when it cannot be asked. Never rejects. */
  listWorkspaceTools(workspaceId: string, connect: () => Promise<AgentConnection>): Promise<readonly Tool[]>;
  /** Every message the model may see, oldest first. */
  readHistory(chatId: string): Promise<MessageRow[]>;
  /** Bytes of the person's files by id; what is missing is not in the map. */
  readFiles(ownerId: string, fileIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
};
