/** The events of OpenAI's Responses API → our parts. */
import type {
  Response,
  ResponseFunctionToolCall,
  ResponseFunctionWebSearch,
  ResponseOutputItem,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import type { JsonObject, JsonValue } from "../domain/json.js";
import { StreamFailure } from "./errors.js";
import type { EventReader } from "./model-call.js";
import { parseToolArguments } from "./prompt-parts.js";
import type { FinishReason, ModelStreamPart } from "./types.js";

/** Between two paragraphs of a reasoning summary, as the vendor separates them in its own products. */
const SUMMARY_SEPARATOR = "\n\n";

type CallState = {
  /** Function calls under way, by item id, so that argument pieces can be named. */
  calls: Map<string, { callId: string; name: string }>;
  /** Items whose words have begun to stream; a done item repeats them. */
  streamedItems: Set<string>;
  hasToolCalls: boolean;
};

/** A reader for one call. */
export function createResponsesReader(): EventReader<ResponseStreamEvent> {
  const state: CallState = { calls: new Map(), streamedItems: new Set(), hasToolCalls: false };
  return { read: (event) => readEvent(state, event), end: () => [] };
}

function readEvent(state: CallState, event: ResponseStreamEvent): ModelStreamPart[] {
  switch (event.type) {
    case "response.output_item.added":
      if (event.item.type === "function_call") rememberCall(state, event.item);
      return [];
    case "response.output_text.delta":
    case "response.refusal.delta":
      return event.delta === "" ? [] : [{ type: "text-delta", text: event.delta }];
    case "response.reasoning_summary_part.added":
      return event.summary_index > 0 && state.streamedItems.has(event.item_id)
        ? [{ type: "reasoning-delta", text: SUMMARY_SEPARATOR }]
        : [];
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      state.streamedItems.add(event.item_id);
      return event.delta === "" ? [] : [{ type: "reasoning-delta", text: event.delta }];
    case "response.output_text.annotation.added":
      return citedSource(event.annotation);
    case "response.function_call_arguments.delta": {
      const call = state.calls.get(event.item_id);
      if (call === undefined || event.delta === "") return [];
      return [{ type: "tool-input-delta", toolCallId: call.callId, toolName: call.name, delta: event.delta }];
    }
    case "response.output_item.done":
      return finishItem(state, event.item);
    case "response.completed":
    case "response.incomplete":
      return finishResponse(state, event.response);
    case "response.failed": {
      const { error } = event.response;
      throw new StreamFailure(error?.code ?? "server_error", error?.message ?? "the response failed");
    }
    case "error":
      throw new StreamFailure(event.code ?? "server_error", event.message);
    default:
      return [];
  }
}

function rememberCall(state: CallState, item: ResponseFunctionToolCall): void {
  if (item.id !== undefined) state.calls.set(item.id, { callId: item.call_id, name: item.name });
}

function finishItem(state: CallState, item: ResponseOutputItem): ModelStreamPart[] {
  switch (item.type) {
    case "reasoning":
      return finishReasoning(state, item);
    case "function_call":
      state.hasToolCalls = true;
      return [
        {
          type: "tool-call",
          toolCallId: item.call_id,
          toolName: item.name,
          arguments: parseToolArguments(item.arguments),
        },
      ];
    case "web_search_call":
      return searchParts(item);
    default:
      return [];
  }
}

function finishReasoning(state: CallState, item: ResponseReasoningItem): ModelStreamPart[] {
  const parts: ModelStreamPart[] = [];
  const summary = item.summary.map(({ text }) => text).join(SUMMARY_SEPARATOR);
  if (!state.streamedItems.has(item.id) && summary !== "")
    parts.push({ type: "reasoning-delta", text: summary });
  if (!item.encrypted_content) return [...parts, { type: "reasoning-end" }];
  const providerMetadata = { openai: { itemId: item.id, encryptedContent: item.encrypted_content } };
  return [...parts, { type: "reasoning-end", providerMetadata }];
}

function searchParts(item: ResponseFunctionWebSearch): ModelStreamPart[] {
  const call = { toolCallId: item.id, toolName: "web_search", isProviderExecuted: true } as const;
  const providerMetadata = { openai: { itemId: item.id } };
  const result: JsonValue = { status: item.status };
  return [
    { type: "tool-call", ...call, arguments: searchArguments(item.action), providerMetadata },
    { type: "tool-result", ...call, result, isError: item.status === "failed", providerMetadata },
  ];
}

function searchArguments(action: ResponseFunctionWebSearch["action"] | undefined): JsonObject {
  switch (action?.type) {
    case "search":
      return { query: action.query ?? action.queries?.[0] ?? "" };
    case "open_page":
      return { url: action.url ?? "" };
    case "find_in_page":
      return { url: action.url, pattern: action.pattern };
    default:
      return {};
  }
}

type Annotation = Extract<
  ResponseStreamEvent,
  { type: "response.output_text.annotation.added" }
>["annotation"];

function citedSource(annotation: Annotation): ModelStreamPart[] {
  if (annotation?.type !== "url_citation") return [];
  return [{ type: "source", url: annotation.url, ...(annotation.title ? { title: annotation.title } : {}) }];
}

function finishResponse(state: CallState, response: Response): ModelStreamPart[] {
  const usage = response.usage ? [usagePart(response.usage)] : [];
  return [...usage, { type: "finish", reason: finishReason(state, response) }];
}

function usagePart(usage: ResponseUsage): ModelStreamPart {
  // Compatible servers leave the details out, whatever the types say.
  const details: Partial<ResponseUsage.InputTokensDetails> | undefined = usage.input_tokens_details;
  const cacheReadTokens = details?.cached_tokens ?? 0;
  const cacheWriteTokens = details?.cache_write_tokens ?? 0;
  const output: Partial<ResponseUsage.OutputTokensDetails> | undefined = usage.output_tokens_details;
  return {
    type: "usage",
    usage: {
      inputTokens: Math.max(0, usage.input_tokens - cacheReadTokens - cacheWriteTokens),
      outputTokens: usage.output_tokens,
      reasoningTokens: output?.reasoning_tokens ?? 0,
      cacheReadTokens,
      cacheWriteTokens,
    },
  };
}

function finishReason(state: CallState, { incomplete_details: incomplete }: Response): FinishReason {
  if (incomplete?.reason === "max_output_tokens") return "length";
  if (incomplete?.reason === "content_filter") return "content-filter";
  if (incomplete) return "other";
  return state.hasToolCalls ? "tool-calls" : "stop";
}
