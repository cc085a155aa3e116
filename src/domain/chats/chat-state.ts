/**
 * The execution state of a chat: what the lifecycle decides on and nothing else may write.
 * The title is part of it because subscribers receive its changes in order; labels, pin, model and workspace are
 * metadata and live outside it.
 */
import type { ChatFailure } from "../common/failures.js";
import type { FinishReason } from "./finish-reasons.js";
import type { JsonObject } from "../common/json.js";
import type {
  MessagePart,
  MessageRole,
  MessageVisibility,
  ReasoningEffort,
  TokenUsage,
} from "./message-parts.js";

/**
 * `waiting` idle · `pending` has work, not claimed yet · `running` its runner produces steps · `interrupting` the runner
 * saves its partial step · `requires_action` the client must answer its own tool calls · `error` the turn failed for good.
 */
export const CHAT_STATUSES = [
  "waiting",
  "pending",
  "running",
  "interrupting",
  "requires_action",
  "error",
] as const;
export type ChatStatus = (typeof CHAT_STATUSES)[number];

/**
 * A tool call in history without a result. `isClient`: the client runs it, not the server, and receives `arguments`.
 * `startedAt` as in the call's part.
 */
export type OpenCall = {
  toolCallId: string;
  toolName: string;
  isClient: boolean;
  arguments?: JsonObject;
  startedAt?: number;
};

/** Present while a runner waits before it retries the model call. Times in milliseconds. */
export type RetryNotice = { attempt: number; delayMs: number; retryingAt: number; failure: ChatFailure };

/** Origin of a chat's title. One that the user set (`person`) is never replaced automatically. */
export const TITLE_SOURCES = ["first_message", "model", "person"] as const;
export type TitleSource = (typeof TITLE_SOURCES)[number];

export type ChatState = {
  status: ChatStatus;
  isArchived: boolean;
  /** Started by an agent; never changes. Subagents have no place in lists, unread marks and notifications. */
  isSubagent: boolean;
  /** The server process that runs the chat; set together with `runnerId`. */
  workerId: string | null;
  /** Identifies the process's claim on this chat; new at every claim. */
  runnerId: string | null;
  /** Incremented by every transition. */
  snapshotVersion: number;
  /** The snapshot in which history last changed. */
  historyVersion: number;
  /** The snapshot in which rows of history were last deleted (edit); older cursors need a refresh. */
  resetVersion: number;
  queueVersion: number;
  /** The snapshot in which status, error or the client's deadline last changed. */
  statusVersion: number;
  retryVersion: number;
  /** The snapshot in which the title last changed. */
  titleVersion: number;
  /** The snapshot in which the displayed status of the chat's branch last changed. */
  diffVersion: number;
  title: string;
  titleSource: TitleSource;
  /** Model calls since history last changed; one more where the deltas of a call were discarded without a new call. */
  attempt: number;
  /** When the current generation (`historyVersion`, `attempt`) began, in milliseconds since the epoch; null = unknown. */
  generationStartedAt: number | null;
  retry: RetryNotice | null;
  lastError: ChatFailure | null;
  /** Milliseconds since the epoch; only while the status is `requires_action`, where null = no deadline. */
  actionDeadlineAt: number | null;
  /** When the user requested a summary that does not exist yet, in milliseconds since the epoch. */
  compactionRequestedAt: number | null;
  /** Calls in history without a result, in call order. */
  openCalls: OpenCall[];
  /** Ids of the queued messages, in the order in which they will enter history. */
  queuedIds: string[];
  /** The queued messages that were sent with `interrupt` or promoted: they come before all others. */
  priorityIds: string[];
};

/** A user's message on its way into history or the queue. */
export type UserMessage = {
  parts: MessagePart[];
  authorId: string;
  /** Null = the chat's own. */
  modelConfigId: string | null;
  reasoningEffort: ReasoningEffort | null;
  /** The MCP servers to use from this message on; null = the chat's own. */
  mcpServerIds: string[] | null;
};

/** A message before it has an id. */
export type MessageDraft = {
  role: MessageRole;
  visibility: MessageVisibility;
  parts: MessagePart[];
  authorId?: string | null;
  modelConfigId?: string | null;
  reasoningEffort?: ReasoningEffort | null;
  /** The MCP servers chosen with this message: stored with it, and adopted by the chat. */
  mcpServerIds?: string[] | null;
  usage?: TokenUsage | null;
  /** Whole microdollars; null = unpriced, 0n = free. */
  costMicros?: bigint | null;
  /** Wall time of the step in milliseconds. */
  runtimeMs?: number | null;
  /** The id of the generation whose deltas this message replaces. */
  generation?: string | null;
  /** Why the model stopped; null = it was interrupted, or no model wrote this. */
  finishReason?: FinishReason | null;
  /** The vendor's id of the response; only where this message is all of it. */
  responseId?: string | null;
  /** A summary that replaces everything before it in the model's context. */
  isSummary?: boolean;
};

/** A tool that the client runs; `inputSchema` is a JSON Schema of type object. */
export type ClientTool = {
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** Milliseconds in which the client must answer a call; 0 = no deadline, absent = the deployment's default. */
  timeoutMs?: number;
};

export type ChatLabel = { key: string; value: string };
