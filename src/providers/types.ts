/**
 * The one interface between the engine and model vendors. An adapter turns a `ModelRequest` into its vendor's
 * call through the vendor's own SDK and yields our parts; it keeps no state between calls and never retries.
 */
import type { ModelProviderKind } from "../domain/common/failures.js";
import type { JsonObject, JsonValue } from "../domain/common/json.js";
import type { OutboundFetchFunction } from "../lib/outbound/outbound-fetch.js";
import type { FinishReason } from "../domain/chats/finish-reasons.js";
import type { PromptPart, ReasoningEffort, TokenUsage } from "../domain/chats/message-parts.js";

/** One message as a model sees it; system text travels apart. Tool results are `tool` messages. */
export type PromptMessage = {
  role: "user" | "assistant" | "tool";
  parts: PromptPart[];
  /** The vendor's id of the response that became this message; present only when the same model made it. */
  responseId?: string;
};

/** A tool as it is offered to the model. `inputSchema` is a JSON Schema of type object. */
export type ToolDefinition = { name: string; description: string; inputSchema: JsonObject };

export type ModelRequest = {
  model: string;
  /** Empty = no system prompt. */
  system: string;
  messages: PromptMessage[];
  tools: ToolDefinition[];
  /** Most tokens of the answer; null = as many as the vendor gives, where its format allows to leave it out. */
  maxOutputTokens: number | null;
  reasoningEffort?: ReasoningEffort;
  /** `none`: the tools stay in the prompt, which history and vendors' caches rely on, but may not be called. */
  toolChoice?: "none";
  /** Contents of the prompt's file parts by `fileId`; a file that is not here becomes a placeholder. */
  files?: ReadonlyMap<string, Uint8Array>;
  /** Calls with the same key share the beginning of their prompt; helps vendors that route by it. */
  cacheKey?: string;
  /** The vendor's call options as the model's configuration holds them, unread: see `options.ts`. */
  options?: JsonObject;
  /** Sent with the HTTP request, for example `Parley-Chat-Id`; never overrides the adapter's own headers. */
  headers?: Record<string, string>;
};

/**
 * What a vendor reports of one call, made fit by `UsageReport`: whole, bounded, no part greater than its whole. Null = it
 * was not reported, or what was reported is no count.
 */
export type ReportedUsage = Omit<TokenUsage, "inputTokens" | "outputTokens" | "isEstimated"> & {
  inputTokens: number | null;
  outputTokens: number | null;
  /** What was strange about it, by the vendor's name of the field, shortened; absent = nothing. For the log. */
  oddFields?: Record<string, string>;
};

/**
 * What a model call yields, in order. Deltas of one kind that follow each other belong to one part of the
 * message; a delta of another kind, a `text-end`, a `reasoning-end` or a `tool-call` closes the part before it.
 * A call that ends well yields exactly one `finish`, last. A stream that ends without `finish` was cut.
 */
export type ModelStreamPart =
  | { type: "text-delta"; text: string }
  /** Closes the text part, so that text that follows is another one; carries what the vendor wants back with it. */
  | { type: "text-end"; providerMetadata?: JsonObject }
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
  /** The vendor's id of this response, for vendors that can go on from it. At most once. */
  | { type: "response"; id: string }
  /** The totals known so far; a later one replaces an earlier one. */
  | { type: "usage"; usage: ReportedUsage }
  | { type: "finish"; reason: FinishReason };

/** A provider as the database and the environment describe it. */
export type ProviderSettings = {
  kind: ModelProviderKind;
  displayName: string;
  apiKey: string;
  /** Undefined = the vendor's own address. */
  baseUrl: string | undefined;
  /** The environment variable that gives the address, for people who must correct it; absent = the provider's own field. */
  addressVariable?: string;
  /** Which of OpenAI's wire formats to speak; ignored by other vendors. */
  openaiApi: "responses" | "chat";
  /** The only way out; absent = the platform's own. AWS's chain of credentials has its own, to AWS. */
  fetch?: OutboundFetchFunction;
};

/** One entry of a vendor's list of models. */
export type ListedModel = {
  /** What calls name it by. */
  model: string;
  /** The vendor's own name for people; null when it has none. */
  displayName: string | null;
  /** Tokens that fit into one call; null = the list does not say. */
  contextLimit: number | null;
};

export interface ModelProvider {
  /**
   * Starts one call. Throws `ModelCallError` for everything that the vendor or the network refuses; when
   * `signal` is aborted the iteration just ends (callers look at the signal, not at errors).
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelStreamPart>;
  /**
   * The model's context window in tokens, from the vendor's list of models; null when the list does not say.
   * Throws `ModelCallError`.
   */
  findContextLimit(model: string, signal: AbortSignal): Promise<number | null>;
  /**
   * The models that the vendor's list names, in its order, each once and bounded in number; null = there is no list that
   * says what calls may name. Throws `ModelCallError`.
   */
  listModels(signal: AbortSignal): Promise<ListedModel[] | null>;
}
