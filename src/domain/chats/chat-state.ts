/**
 * The execution state of a chat: what the lifecycle decides on and nothing else may write.
 * The title is here because followers are told of it in order; labels, pin, model and workspace are metadata
 * and live outside it.
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
 * `waiting` at rest · `pending` has work, nobody holds it · `running` its runner produces steps ·
 * `interrupting` the runner saves what it has · `requires_action` the client must answer its own tool calls ·
 * `error` the turn failed for good.
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
 * A tool call in history that has no result yet. `isClient`: the client runs it, not we, and gets `arguments`.
 * `startedAt` as in the call's part.
 */
export type OpenCall = {
  toolCallId: string;
  toolName: string;
  isClient: boolean;
  arguments?: JsonObject;
  startedAt?: number;
};

/** The notice that stands while a runner waits before it tries the model again. Times in milliseconds. */
export type RetryNotice = { attempt: number; delayMs: number; retryingAt: number; failure: ChatFailure };

/** Where a chat's title comes from. A person's own title is never replaced unasked. */
export const TITLE_SOURCES = ["first_message", "model", "person"] as const;
export type TitleSource = (typeof TITLE_SOURCES)[number];

export type ChatState = {
  status: ChatStatus;
  isArchived: boolean;
  /** An agent started it, for good: lists, unread marks and notifications are of other chats. */
  isSubagent: boolean;
  /** The server process that runs the chat; set with `runnerId`, null without. */
  workerId: string | null;
  /** That process's hold on this chat, fresh at every acquisition. */
  runnerId: string | null;
  /** Grows by one in every transition. */
  snapshotVersion: number;
  /** The snapshot in which history last changed. */
  historyVersion: number;
  /** The snapshot in which rows of history were last taken away (edit); older cursors need a refresh. */
  resetVersion: number;
  queueVersion: number;
  /** The snapshot in which status, error or the client's deadline last changed. */
  statusVersion: number;
  retryVersion: number;
  /** The snapshot in which the title last changed. */
  titleVersion: number;
  /** The snapshot in which what is shown of the branch that the chat works on last changed. */
  diffVersion: number;
  title: string;
  titleSource: TitleSource;
  /** Model calls since history last changed; one more where the pieces of a call were given up without a new call. */
  attempt: number;
  /** When the present generation (`historyVersion`, `attempt`) began, in milliseconds since the epoch; null = not known. */
  generationStartedAt: number | null;
  retry: RetryNotice | null;
  lastError: ChatFailure | null;
  /** Milliseconds since the epoch; only while the status is `requires_action`. Null then = the client may take as long as it likes. */
  actionDeadlineAt: number | null;
  /** A person asked for a summary that is not made yet. Milliseconds since the epoch. */
  compactionRequestedAt: number | null;
  /** Calls in history without a result, in call order. */
  openCalls: OpenCall[];
  /** The queue: ids in the order in which they will be said. */
  queuedIds: string[];
  /** Those of the queue that were sent with `interrupt` or promoted: they come before all others. */
  priorityIds: string[];
};

/** What a person says, on its way into history or the queue. */
export type UserMessage = {
  parts: MessagePart[];
  authorId: string;
  /** Null = the chat's own choice. */
  modelConfigId: string | null;
  reasoningEffort: ReasoningEffort | null;
  /** The tool servers to use from this message on; null = the chat's own choice. */
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
  /** What a person chose with this message: the chat takes it over, and it stands with their message. */
  mcpServerIds?: string[] | null;
  usage?: TokenUsage | null;
  /** Whole microdollars; null = unpriced, 0n = free. */
  costMicros?: bigint | null;
  /** Wall time of the step in milliseconds. */
  runtimeMs?: number | null;
  /** The run of streamed pieces that this message became. */
  generation?: string | null;
  /** Why the model stopped; null = it was stopped, or no model wrote this. */
  finishReason?: FinishReason | null;
  /** The vendor's id of the response that this message is, whole. */
  responseId?: string | null;
  /** A summary that stands for everything before it. */
  isSummary?: boolean;
};

/** A tool that the client itself runs; `inputSchema` is a JSON Schema of type object. */
export type ClientTool = {
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** Milliseconds that the client has to answer a call; 0 = no deadline; absent = the deployment's. */
  timeoutMs?: number;
};

export type ChatLabel = { key: string; value: string };
