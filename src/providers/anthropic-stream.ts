/** Anthropic's stream events → our parts. */
import type {
  ContentBlock,
  MessageDeltaUsage,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  StopReason,
  TextCitation,
  Usage,
  WebSearchToolResultBlock,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { JsonObject, JsonValue } from "../domain/json.js";
import type { TokenUsage } from "../domain/message-parts.js";
import type { EventReader } from "./model-call.js";
import { isJsonObject, parseToolArguments } from "./prompt-parts.js";
import type { FinishReason, ModelStreamPart } from "./types.js";

/** A block between its start and its stop. Pieces are kept in a list: joining at the end is linear. */
type OpenBlock =
  | { type: "text" }
  | { type: "thinking"; signature: string }
  | {
      type: "tool-use";
      id: string;
      name: string;
      isProviderExecuted: boolean;
      given: unknown;
      pieces: string[];
    }
  | { type: "ignored" };

type CallState = { open: Map<number, OpenBlock>; usage: TokenUsage; finish: FinishReason | undefined };

const NO_USAGE: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** A reader for one call. */
export function createAnthropicReader(): EventReader<RawMessageStreamEvent> {
  const state: CallState = { open: new Map(), usage: NO_USAGE, finish: undefined };
  return { read: (event) => readEvent(state, event), end: () => [] };
}

function readEvent(state: CallState, event: RawMessageStreamEvent): ModelStreamPart[] {
  switch (event.type) {
    case "message_start":
      state.usage = mergeUsage(state.usage, event.message.usage);
      return [{ type: "usage", usage: state.usage }];
    case "content_block_start":
      return startBlock(state, event.index, event.content_block);
    case "content_block_delta":
      return readDelta(state.open.get(event.index), event.delta);
    case "content_block_stop":
      return stopBlock(state, event.index);
    case "message_delta":
      state.usage = mergeUsage(state.usage, event.usage);
      if (event.delta.stop_reason) state.finish = finishReason(event.delta.stop_reason);
      return [{ type: "usage", usage: state.usage }];
    case "message_stop":
      return [{ type: "finish", reason: state.finish ?? "other" }];
    default:
      // The vendor adds event types without notice and asks clients to ignore them.
      return [];
  }
}

function startBlock(state: CallState, index: number, block: ContentBlock): ModelStreamPart[] {
  switch (block.type) {
    case "text":
      state.open.set(index, { type: "text" });
      return block.text === "" ? [] : [{ type: "text-delta", text: block.text }];
    case "thinking":
      state.open.set(index, { type: "thinking", signature: block.signature });
      return block.thinking === "" ? [] : [{ type: "reasoning-delta", text: block.thinking }];
    case "redacted_thinking": {
      state.open.set(index, { type: "ignored" });
      const providerMetadata = { anthropic: { redactedData: block.data } };
      return [{ type: "reasoning-end", isRedacted: true, providerMetadata }];
    }
    case "tool_use":
    case "server_tool_use": {
      const { id, name, input } = block;
      const isProviderExecuted = block.type === "server_tool_use";
      state.open.set(index, { type: "tool-use", id, name, isProviderExecuted, given: input, pieces: [] });
      return [];
    }
    case "web_search_tool_result":
      state.open.set(index, { type: "ignored" });
      return [searchResult(block)];
    default:
      state.open.set(index, { type: "ignored" });
      return [];
  }
}

function readDelta(block: OpenBlock | undefined, delta: RawContentBlockDelta): ModelStreamPart[] {
  switch (delta.type) {
    case "text_delta":
      return delta.text === "" ? [] : [{ type: "text-delta", text: delta.text }];
    case "thinking_delta":
      return delta.thinking === "" ? [] : [{ type: "reasoning-delta", text: delta.thinking }];
    case "signature_delta":
      if (block?.type === "thinking") block.signature += delta.signature;
      return [];
    case "citations_delta":
      return citedSource(delta.citation);
    case "input_json_delta": {
      if (block?.type !== "tool-use" || delta.partial_json === "") return [];
      block.pieces.push(delta.partial_json);
      if (block.isProviderExecuted) return [];
      const { id: toolCallId, name: toolName } = block;
      return [{ type: "tool-input-delta", toolCallId, toolName, delta: delta.partial_json }];
    }
    default:
      return [];
  }
}

function stopBlock(state: CallState, index: number): ModelStreamPart[] {
  const block = state.open.get(index);
  state.open.delete(index);
  if (block?.type === "thinking") {
    const providerMetadata = { anthropic: { signature: block.signature } };
    return [block.signature === "" ? { type: "reasoning-end" } : { type: "reasoning-end", providerMetadata }];
  }
  if (block?.type !== "tool-use") return [];
  return [
    {
      type: "tool-call",
      toolCallId: block.id,
      toolName: block.name,
      arguments: blockArguments(block.pieces, block.given),
      ...(block.isProviderExecuted ? { isProviderExecuted: true } : {}),
    },
  ];
}

/** Arguments come in pieces; some gateways send them whole at the start instead. */
function blockArguments(pieces: string[], given: unknown): JsonObject {
  if (pieces.length > 0) return parseToolArguments(pieces.join(""));
  return isJsonObject(given) ? given : {};
}

function searchResult({ tool_use_id: toolCallId, content }: WebSearchToolResultBlock): ModelStreamPart {
  const isError = !Array.isArray(content);
  const result: JsonValue = Array.isArray(content)
    ? content.map(({ url, title, page_age }) => ({ url, title, ...(page_age ? { pageAge: page_age } : {}) }))
    : { error: content.error_code };
  return {
    type: "tool-result",
    toolCallId,
    toolName: "web_search",
    result,
    isError,
    isProviderExecuted: true,
    // The vendor wants its encrypted pages back word for word.
    providerMetadata: { anthropic: { content: content as unknown as JsonValue } },
  };
}

function citedSource(citation: TextCitation): ModelStreamPart[] {
  if (citation.type !== "web_search_result_location") return [];
  return [{ type: "source", url: citation.url, ...(citation.title ? { title: citation.title } : {}) }];
}

/** `message_delta` repeats totals, but may leave out what `message_start` said. */
function mergeUsage(
  known: TokenUsage,
  usage: Partial<Usage> | Partial<MessageDeltaUsage> | undefined,
): TokenUsage {
  return {
    inputTokens: usage?.input_tokens ?? known.inputTokens,
    outputTokens: usage?.output_tokens ?? known.outputTokens,
    reasoningTokens: usage?.output_tokens_details?.thinking_tokens ?? known.reasoningTokens,
    cacheReadTokens: usage?.cache_read_input_tokens ?? known.cacheReadTokens,
    cacheWriteTokens: usage?.cache_creation_input_tokens ?? known.cacheWriteTokens,
  };
}

function finishReason(reason: StopReason): FinishReason {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
      return "stop";
    case "tool_use":
      return "tool-calls";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "refusal":
      return "content-filter";
    case "pause_turn":
      return "other";
    default:
      return "other";
  }
}
