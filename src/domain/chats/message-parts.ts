/**
 * What a message is made of. The same parts are stored (content version 1), sent to models and shown to
 * clients; only `providerMetadata` stays inside: it belongs to the vendor that made the part.
 */
import type { JsonObject, JsonValue } from "../common/json.js";

/** Who speaks. A `tool` message carries the results of the assistant message before it. */
export const MESSAGE_ROLES = ["system", "user", "assistant", "tool"] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

/** Who may read a message: people only, the model only, or both. */
export const MESSAGE_VISIBILITIES = ["user", "model", "both"] as const;
export type MessageVisibility = (typeof MESSAGE_VISIBILITIES)[number];

/** Plain text, as Markdown. */
export type TextPart = { type: "text"; text: string; providerMetadata?: JsonObject };

/** The model's thinking. `isRedacted`: the vendor hid the words, only `providerMetadata` can carry it back. */
export type ReasoningPart = {
  type: "reasoning";
  text: string;
  isRedacted?: boolean;
  providerMetadata?: JsonObject;
};

/** The model asks for a tool. `arguments` is always an object; unparsable input becomes `{}`. */
export type ToolCallPart = {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  arguments: JsonObject;
  /** Run by the model's vendor (for example web search); its result is part of the same message. */
  isProviderExecuted?: boolean;
  /** The output limit cut its arguments, so they are `{}` here: it must not run, and the model learns why. */
  isCut?: true;
  /** The registered tool server whose tool it is. */
  mcpServerId?: string;
  /** When the model had asked for it, in milliseconds since the epoch; absent in messages of earlier versions. */
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
  /** What the tool gave besides its words; absent = nothing. */
  files?: StoredFile[];
  /**
   * When the run began that gave this result, in milliseconds since the epoch; of a client's call, when it was asked
   * for. Absent in messages of earlier versions.
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

/** A file by reference: its bytes are kept apart and join the prompt only when a model is called. */
export type StoredFile = { fileId: string; name: string; mediaType: string; sizeBytes: number };

/** An uploaded file. */
export type FilePart = { type: "file" } & StoredFile;

/** What a person says: a file only by its id, of which the server knows the rest. */
export type UserMessagePart = TextPart | FileReferencePart | { type: "file"; fileId: string };

/** How much a notice asks of its reader. `warning`: the turn goes on without something. */
export const NOTICE_LEVELS = ["warning"] as const;
export type NoticeLevel = (typeof NOTICE_LEVELS)[number];

/** What Parley itself tells people in a message: models never see it. `mcpServerId`: the tool server it is about. */
export type NoticePart = { type: "notice"; level: NoticeLevel; text: string; mcpServerId?: string };

/** What a model may see of a message. */
export type PromptPart =
  TextPart | ReasoningPart | ToolCallPart | ToolResultPart | SourcePart | FileReferencePart | FilePart;

export type MessagePart = PromptPart | NoticePart;

/** What one model call used. `inputTokens` excludes cache reads and writes; `outputTokens` includes reasoning. */
export type TokenUsage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Some of it is our own estimate: the vendor did not report it, or the call ended before it could. */
  isEstimated?: true;
};

/** How hard a reasoning model should think; adapters map it to their vendor's nearest setting. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];
