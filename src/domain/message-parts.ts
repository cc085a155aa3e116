/**
 * What a message is made of. The same parts are stored (content version 1), sent to models and shown to
 * clients; only `providerMetadata` stays inside: it belongs to the vendor that made the part.
 */
import type { JsonObject, JsonValue } from "./json.js";

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
  providerMetadata?: JsonObject;
};

/** The answer to one tool call. */
export type ToolResultPart = {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  result: JsonValue;
  isError: boolean;
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

/** An uploaded file, by reference: its bytes are kept apart and join the prompt only when a model is called. */
export type FilePart = { type: "file"; fileId: string; name: string; mediaType: string; sizeBytes: number };

export type MessagePart =
  TextPart | ReasoningPart | ToolCallPart | ToolResultPart | SourcePart | FileReferencePart | FilePart;

/** What one model call used. `inputTokens` excludes cache reads and writes; `outputTokens` includes reasoning. */
export type TokenUsage = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
};

/** How hard a reasoning model should think; adapters map it to their vendor's nearest setting. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];
