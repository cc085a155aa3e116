/**
 * The interface between the engine and model vendors. An adapter turns a `ModelRequest` into a call through the
 * vendor's own SDK and yields stream parts; it has no state between calls and never retries.
 */
import type { ModelProviderKind } from "../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../domain/common/json.js";
import type { OutboundFetchFunction } from "../lib/outbound/outbound-fetch.js";
import type { FinishReason } from "../domain/chats/finish-reasons.js";
import type { PromptPart, ReasoningEffort, TokenUsage } from "../domain/chats/message-parts.js";

/** One message of a prompt; the system prompt is separate. Tool results are `tool` messages. */
export type PromptMessage = {
  role: "user" | "assistant" | "tool";
  parts: PromptPart[];
  /** The vendor's id of the response that became this message; present only for the same model. */
  responseId?: string;
};

/** A tool's definition for the model. `inputSchema` is a JSON Schema of type object. */
export type ToolDefinition = { name: string; description: string; inputSchema: JsonObject };

export type ModelRequest = {
  model: string;
  /** Empty = no system prompt. */
  system: string;
  messages: PromptMessage[];
  tools: ToolDefinition[];
  /** Token limit of the answer; null = the vendor's default, where its format allows omitting it. */
  maxOutputTokens: number | null;
  reasoningEffort?: ReasoningEffort;
  /** `none`: the tools stay in the prompt, as history and vendors' caches need them, but must not be called. */
  toolChoice?: "none";
  /** Contents of the prompt's file parts by `fileId`; a missing file becomes a placeholder. */
  files?: ReadonlyMap<string, Uint8Array>;
  /** Calls with the same key share a prompt prefix; helps vendors that route by it. */
  cacheKey?: string;
  /** The vendor's call options from the model's configuration, unparsed: see `options.ts`. */
  options?: JsonObject;
  /** Sent with the HTTP request, for example `Parley-Chat-Id`; never overrides the adapter's own headers. */
  headers?: Record<string, string>;
};

/**
 * A vendor's usage report of one call, sanitized by `UsageReport`: integers, bounded, no part greater than its total.
 * Null = not reported, or not a valid count.
 */
export type ReportedUsage = Omit<TokenUsage, "inputTokens" | "outputTokens" | "isEstimated"> & {
  inputTokens: number | null;
  outputTokens: number | null;
  /** Invalid values by the vendor's field name, shortened, for the log; absent when there are none. */
  anomalies?: Record<string, string>;
};

/**
 * The stream parts of a model call, in order. Successive deltas of one kind belong to one part of the message; a delta
 * of another kind, a `text-end`, a `reasoning-end` or a `tool-call` closes the part before it. A successful call yields
 * exactly one `finish`, last. A stream that ends without `finish` was cut.
 */
export type ModelStreamPart =
  | { type: "text-delta"; text: string }
  /** Closes the text part, so that later text starts another; with metadata that the vendor requires back. */
  | { type: "text-end"; providerMetadata?: JsonObject }
  | { type: "reasoning-delta"; text: string }
  /** Closes the reasoning part; with metadata that the vendor requires back (signature, encrypted content). */
  | { type: "reasoning-end"; isRedacted?: boolean; providerMetadata?: JsonObject }
  | { type: "tool-input-delta"; toolCallId: string; toolName: string; delta: string }
  | {
      type: "tool-call";
      toolCallId: string;
      toolName: string;
      arguments: JsonObject;
      isProviderExecuted?: boolean;
      /** See `ToolCallPart.isCut`. */
      isCut?: true;
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
  /** The vendor's id of this response, for vendors that can continue from it. At most once. */
  | { type: "response"; id: string }
  /** The totals known so far; a later one replaces an earlier one. */
  | { type: "usage"; usage: ReportedUsage }
  | { type: "finish"; reason: FinishReason };

/** A provider's settings, from the database or the environment. */
export type ProviderSettings = {
  kind: ModelProviderKind;
  displayName: string;
  apiKey: string;
  /** Undefined = the vendor's own address. */
  baseUrl: string | undefined;
  /** The environment variable with the address, for error messages; absent = the provider's base URL field. */
  addressVariable?: string;
  /** Which of OpenAI's wire formats to speak; ignored by other vendors. */
  openaiApi: "responses" | "chat";
  /** Used for all requests; default: the global `fetch`. AWS's credentials chain makes its own requests to AWS. */
  fetch?: OutboundFetchFunction;
};

/** One entry of a vendor's list of models. */
export type ListedModel = {
  /** The id that calls use. */
  model: string;
  /** The vendor's display name; null when it has none. */
  displayName: string | null;
  /** Context window in tokens; null when the list does not contain it. */
  contextLimit: number | null;
};

export interface ModelProvider {
  /**
   * Starts one call. Throws `ModelCallError` for every failure of the vendor or the network; when `signal` is aborted
   * the iteration just ends (callers check the signal, not errors).
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelStreamPart>;
  /**
   * The model's context window in tokens, from the vendor's list of models; null when the list does not contain it.
   * Throws `ModelCallError`.
   */
  findContextLimit(model: string, signal: AbortSignal): Promise<number | null>;
  /**
   * The models of the vendor's list, in its order, each once and bounded in number; null when there is no usable list.
   * Throws `ModelCallError`.
   */
  listModels(signal: AbortSignal): Promise<ListedModel[] | null>;
}
