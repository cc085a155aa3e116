/**
 * The one interface between the engine and model vendors. An adapter turns a `ModelRequest` into its vendor's
 * call through the vendor's own SDK and yields our parts; it keeps no state between calls and never retries.
 */
import type { JsonObject, JsonValue } from "../domain/json.js";
import type { MessagePart, ReasoningEffort, TokenUsage } from "../domain/message-parts.js";

/** One message as a model sees it; system text travels apart. Tool results are `tool` messages. */
export type PromptMessage = { role: "user" | "assistant" | "tool"; parts: MessagePart[] };

/** A tool as it is offered to the model. `inputSchema` is a JSON Schema of type object. */
export type ToolDefinition = { name: string; description: string; inputSchema: JsonObject };

export type ModelRequest = {
  model: string;
  /** Empty = no system prompt. */
  system: string;
  messages: PromptMessage[];
  tools: ToolDefinition[];
  maxOutputTokens: number;
  reasoningEffort?: ReasoningEffort;
  /** Sent with the HTTP request, for example `Parley-Chat-Id`; never overrides the adapter's own headers. */
  headers?: Record<string, string>;
};

export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "other";

/**
 * What a model call yields, in order. Deltas of one kind that follow each other belong to one part of the
 * message; a delta of another kind, a `reasoning-end` or a `tool-call` closes the part before it.
 * A call that ends well yields exactly one `finish`, last. A stream that ends without `finish` was cut.
 */
export type ModelStreamPart =
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  /** Closes the reasoning part; carries what the vendor wants back with it (signature, encrypted content). */
  | { type: "reasoning-end"; isRedacted?: boolean; providerMetadata?: JsonObject }
  | { type: "tool-input-delta"; toolCallId: string; toolName: string; delta: string }
  | {
      type: "tool-call";
      toolCallId: string;
      toolName: string;
      arguments: JsonObject;
      isProviderExecuted?: boolean;
      providerMetadata?: JsonObject;
    }
  | {
      type: "tool-result";
      toolCallId: string;
      toolName: string;
      result: JsonValue;
      isError: boolean;
      isProviderExecuted: true;
      providerMetadata?: JsonObject;
    }
  | { type: "source"; url: string; title?: string }
  /** The totals known so far; a later one replaces an earlier one. */
  | { type: "usage"; usage: TokenUsage }
  | { type: "finish"; reason: FinishReason };

/** A provider as the database and the environment describe it. */
export type ProviderSettings = {
  kind: "anthropic" | "openai" | "openai_compatible";
  displayName: string;
  apiKey: string;
  /** Undefined = the vendor's own address. */
  baseUrl: string | undefined;
  /** Which OpenAI wire format to speak; ignored by Anthropic. */
  openaiApi: "responses" | "chat";
};

export interface ModelProvider {
  /**
   * Starts one call. Throws `ModelCallError` for everything that the vendor or the network refuses; when
   * `signal` is aborted the iteration just ends (callers look at the signal, not at errors).
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelStreamPart>;
}
