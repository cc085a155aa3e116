/**
 * What a message is made of. The same parts are stored (content version 1), sent to models and shown to
 * clients; only `providerMetadata` stays inside: it belongs to the vendor that made the part.
 */
import type { JsonObject, JsonValue } from "../common/json.js";

/** The author's role. A `tool` message carries the results of the assistant message before it. */
export const MESSAGE_ROLES = ["system", "user", "assistant", "tool"] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

/** Who sees a message: users only, the model only, or both. */
export const MESSAGE_VISIBILITIES = ["user", "model", "both"] as const;
export type MessageVisibility = (typeof MESSAGE_VISIBILITIES)[number];

/** Plain text, as Markdown. */
export type TextPart = { type: "text"; text: string; providerMetadata?: JsonObject };

/** The model's reasoning. `isRedacted`: the vendor withheld the text; only `providerMetadata` can send it back. */
export type ReasoningPart = {
  type: "reasoning";
  text: string;
  isRedacted?: boolean;
  providerMetadata?: JsonObject;
};

/** A tool call by the model. `arguments` is always an object; unparsable input becomes `{}`. */
export type ToolCallPart = {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  arguments: JsonObject;
  /** Run by the model's vendor (for example web search); its result is part of the same message. */
  isProviderExecuted?: boolean;
  /** The output limit truncated the arguments, so they are `{}` here: the call must not run, and the model is given the reason. */
  isCut?: true;
  /** The MCP server that provides the tool. */
  mcpServerId?: string;
  /** When the model completed the call, in milliseconds since the epoch; absent in messages of earlier versions. */
  startedAt?: number;
  providerMetadata?: JsonObject;
};

/** The answer to one tool call. */
export type ToolResultPart = {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  result: JsonValue;
  isError: boolean;
  /** Files that the tool returned beside `result`; absent = none. */
  files?: StoredFile[];
  /**
   * When the run that produced this result began, in milliseconds since the epoch; for a client's call, when the model
   * made it. Absent in messages of earlier versions.
   */
  startedAt?: number;
  /** From `startedAt` to the result; absent in messages of earlier versions. */
  durationMs?: number;
  isProviderExecuted?: boolean;
  providerMetadata?: JsonObject;
};

/** A page that the model cites. */
export type SourcePart = { type: "source"; url: string; title?: string };

/** A pointer into a file in the workspace, with the lines as they were when it was sent. */
export type FileReferencePart = {
  type: "file-reference";
  path: string;
  startLine: number;
  endLine: number;
  content: string;
};

/** A file by reference: its bytes are stored separately and join the prompt only when a model is called. */
export type StoredFile = { fileId: string; name: string; mediaType: string; sizeBytes: number };

/** An uploaded file. */
export type FilePart = { type: "file" } & StoredFile;

/** A part of a user's message as it comes in: a file only by its id, since the server knows the rest. */
export type UserMessagePart = TextPart | FileReferencePart | { type: "file"; fileId: string };

/** Severity of a notice. `warning`: the turn continues without something. */
const NOTICE_LEVELS = ["warning"] as const;
export type NoticeLevel = (typeof NOTICE_LEVELS)[number];

/** A notice from Parley to the user; models never see it. `mcpServerId`: the MCP server it is about. */
export type NoticePart = { type: "notice"; level: NoticeLevel; text: string; mcpServerId?: string };

/** The parts of a message that a model may see. */
export type PromptPart =
  TextPart | ReasoningPart | ToolCallPart | ToolResultPart | SourcePart | FileReferencePart | FilePart;

export type MessagePart = PromptPart | NoticePart;

/** Token usage of one model call. `inputTokens` excludes cache reads and writes; `outputTokens` includes reasoning. */
export type TokenUsage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Partly our own estimate: the vendor reported no usage, or the call ended before it could. */
  isEstimated?: true;
};

/** Reasoning effort; adapters map it to their vendor's nearest setting. */
const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];
