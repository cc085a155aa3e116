/** Reader of Anthropic's stream events. */
import type {
  ContentBlock,
  MessageDeltaUsage,
  RawContentBlockDelta,
  RawMessageStreamEvent,
  StopReason,
  Usage,
  WebSearchToolResultBlock,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { JsonObject, JsonValue } from "../../domain/common/json.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import { AnswerCallIds } from "../common/call-ids.js";
import { CitedText } from "./citations.js";
import type { EventReader } from "../common/model-call.js";
import { isJsonObject, isJsonObjectText, parseToolArguments } from "../common/prompt-parts.js";
import type { ModelStreamPart } from "../types.js";
import { NO_COUNTS, type TokenCounts, UsageReport } from "../common/usage-report.js";

/** A block between its start and its stop. Deltas are collected in a list: joining at the end is linear. */
type OpenBlock =
  | { type: "text" }
  | { type: "thinking"; signature: string }
  | {
      type: "tool-use";
      id: string;
      name: string;
      isProviderExecuted: boolean;
      input: unknown;
      caller: JsonObject | undefined;
      deltas: string[];
    }
  | { type: "ignored" };

type ToolCall = Extract<ModelStreamPart, { type: "tool-call" }>;

type CallState = {
  open: Map<number, OpenBlock>;
  ids: AnswerCallIds;
  /** The open text part; neighbouring text blocks are one part. */
  text: CitedText | undefined;
  seenUrls: Set<string>;
  usage: UsageReport;
  /** Of the responses before this one: a paused answer consists of several. */
  earlierCounts: TokenCounts;
  counts: TokenCounts;
  /** The last call, when its arguments are incomplete: the stop reason decides whether it was cut. */
  incomplete: ToolCall | undefined;
  finish: FinishReason | undefined;
};

/** A reader for one call. Cited pages become sources after the text that cites them, each once in a message. */
export function createAnthropicReader(): EventReader<RawMessageStreamEvent> {
  const state: CallState = {
    open: new Map(),
    ids: new AnswerCallIds(),
    text: undefined,
    seenUrls: new Set(),
    usage: new UsageReport(),
    earlierCounts: NO_COUNTS,
    counts: NO_COUNTS,
    incomplete: undefined,
    finish: undefined,
  };
  return {
    read: (event) => readEvent(state, event),
    isFinished: () => state.finish !== undefined,
    end: () => endOfStream(state),
  };
}

function readEvent(state: CallState, event: RawMessageStreamEvent): ModelStreamPart[] {
  switch (event.type) {
    case "message_start":
      state.earlierCounts = addCounts(state.earlierCounts, state.counts);
      return takeCounts(state, mergeCounts(state.usage, NO_COUNTS, event.message.usage));
    case "content_block_start":
      return [...endCall(state, false), ...startBlock(state, event.index, event.content_block)];
    case "content_block_delta":
      return readDelta(state, state.open.get(event.index), event.delta);
    case "content_block_stop":
      return stopBlock(state, event.index);
    case "message_delta":
      readStopReason(state, event.delta.stop_reason);
      return [
        ...(state.finish === undefined ? [] : endCall(state, state.finish === "length")),
        ...takeCounts(state, mergeCounts(state.usage, state.counts, event.usage)),
      ];
    case "message_stop":
      return endAnswer(state, state.finish ?? "other");
    default:
      // The vendor adds event types without notice; clients must ignore unknown ones.
      return [];
  }
}

/** Ignores a pause, after which the answer is continued; see `continuation.ts`. */
function readStopReason(state: CallState, reason: StopReason | null | undefined): void {
  if (reason && reason !== "pause_turn") state.finish = finishReason(reason);
}

/** Some gateways omit `message_stop`; an answer with a stop reason is complete without it. */
function endOfStream(state: CallState): ModelStreamPart[] {
  return state.finish === undefined ? [] : endAnswer(state, state.finish);
}

function endAnswer(state: CallState, reason: FinishReason): ModelStreamPart[] {
  return [...endCall(state, reason === "length"), ...endText(state), { type: "finish", reason }];
}

function takeCounts(state: CallState, counts: TokenCounts): ModelStreamPart[] {
  state.counts = counts;
  return [state.usage.part(addCounts(state.earlierCounts, counts))];
}

/** Every block except text closes the text before it. */
function startBlock(state: CallState, index: number, block: ContentBlock): ModelStreamPart[] {
  switch (block.type) {
    case "text":
      state.open.set(index, { type: "text" });
      state.text ??= new CitedText(state.seenUrls);
      state.text.startBlock(block.citations);
      return textDelta(state.text, block.text);
    case "thinking":
      state.open.set(index, { type: "thinking", signature: block.signature ?? "" });
      return [...endText(state), ...reasoningDelta(block.thinking)];
    case "redacted_thinking": {
      const providerMetadata = { anthropic: { redactedData: block.data } };
      return [...endText(state), { type: "reasoning-end", isRedacted: true, providerMetadata }];
    }
    case "tool_use":
    case "server_tool_use": {
      const { name, input, caller } = block;
      const isProviderExecuted = block.type === "server_tool_use";
      const id = isProviderExecuted ? block.id : state.ids.take(block.id);
      const tool = {
        id,
        name: typeof name === "string" ? name : "",
        isProviderExecuted,
        input,
        caller: caller as unknown as JsonObject | undefined,
      };
      state.open.set(index, { type: "tool-use", ...tool, deltas: [] });
      return endText(state);
    }
    case "web_search_tool_result":
      return [...endText(state), searchResult(block)];
    default:
      return [];
  }
}

function readDelta(
  { text }: CallState,
  block: OpenBlock | undefined,
  delta: RawContentBlockDelta,
): ModelStreamPart[] {
  switch (delta.type) {
    case "text_delta":
      return block?.type === "text" && text !== undefined ? textDelta(text, delta.text) : [];
    case "thinking_delta":
      return reasoningDelta(delta.thinking);
    case "signature_delta":
      if (block?.type === "thinking") block.signature += delta.signature;
      return [];
    case "citations_delta":
      if (block?.type === "text") text?.cite(delta.citation);
      return [];
    case "input_json_delta": {
      if (block?.type !== "tool-use" || delta.partial_json === "") return [];
      block.deltas.push(delta.partial_json);
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
  if (block?.type === "text") state.text?.endBlock();
  if (block?.type === "thinking") {
    const providerMetadata = { anthropic: { signature: block.signature } };
    return [block.signature === "" ? { type: "reasoning-end" } : { type: "reasoning-end", providerMetadata }];
  }
  if (block?.type !== "tool-use") return [];
  const call: ToolCall = {
    type: "tool-call",
    toolCallId: block.id,
    toolName: block.name,
    arguments: blockArguments(block.deltas, block.input),
  };
  if (block.isProviderExecuted)
    return [{ ...call, isProviderExecuted: true, ...callerMetadata(block.caller) }];
  if (isWhole(block.deltas, block.input)) return [call];
  state.incomplete = call;
  return [];
}

/**
 * A block that the output limit cuts is stopped as well; only the stop reason then shows it, and only the last block
 * is cut.
 */
function isWhole(deltas: string[], input: unknown): boolean {
  if (deltas.length > 0) return isJsonObjectText(deltas.join(""));
  return isJsonObject(input) && Object.keys(input).length > 0;
}

/** The incomplete call that waited for the stop reason; empty when there is none. */
function endCall(state: CallState, isCut: boolean): ModelStreamPart[] {
  const call = state.incomplete;
  if (call === undefined) return [];
  state.incomplete = undefined;
  return [isCut ? { ...call, arguments: {}, isCut } : call];
}

function textDelta(part: CitedText, text: string): ModelStreamPart[] {
  part.append(text);
  return text === "" ? [] : [{ type: "text-delta", text }];
}

function reasoningDelta(text: string): ModelStreamPart[] {
  return text === "" ? [] : [{ type: "reasoning-delta", text }];
}

function endText(state: CallState): ModelStreamPart[] {
  const parts = state.text?.end() ?? [];
  state.text = undefined;
  return parts;
}

/** The tool's caller, where the vendor reports it; sent back with the call. */
function callerMetadata(caller: JsonObject | undefined): { providerMetadata?: JsonObject } {
  return caller === undefined ? {} : { providerMetadata: { anthropic: { caller } } };
}

/** Arguments stream as deltas; some gateways send them whole at the start instead. */
function blockArguments(deltas: string[], input: unknown): JsonObject {
  if (deltas.length > 0) return parseToolArguments(deltas.join(""));
  return isJsonObject(input) ? input : {};
}

function searchResult(block: WebSearchToolResultBlock): ModelStreamPart {
  const { tool_use_id: toolCallId, content, caller } = block;
  const isError = !Array.isArray(content);
  const result: JsonValue = Array.isArray(content)
    ? content.map(({ url, title, page_age }) => ({ url, title, ...(page_age ? { pageAge: page_age } : {}) }))
    : { error: content?.error_code ?? "unavailable" };
  return {
    type: "tool-result",
    toolCallId,
    toolName: "web_search",
    result,
    isError,
    isProviderExecuted: true,
    // The vendor requires its encrypted pages back unchanged.
    providerMetadata: {
      anthropic: { ...(caller === undefined ? {} : { caller }), content } as unknown as JsonObject,
    },
  };
}

/** `message_delta` repeats totals, but may omit fields of `message_start`. */
function mergeCounts(
  report: UsageReport,
  known: TokenCounts,
  usage: Partial<Usage> | Partial<MessageDeltaUsage> | undefined | null,
): TokenCounts {
  const count = (field: keyof MessageDeltaUsage) => report.count(field, usage?.[field]);
  const thinking = report.count("thinking_tokens", usage?.output_tokens_details?.thinking_tokens);
  return {
    inputTokens: count("input_tokens") ?? known.inputTokens,
    outputTokens: count("output_tokens") ?? known.outputTokens,
    reasoningTokens: thinking ?? known.reasoningTokens,
    cacheReadTokens: count("cache_read_input_tokens") ?? known.cacheReadTokens,
    cacheWriteTokens: count("cache_creation_input_tokens") ?? known.cacheWriteTokens,
  };
}

/** A field that neither has stays undefined. */
function addCounts(one: TokenCounts, other: TokenCounts): TokenCounts {
  const add = (field: keyof TokenCounts) => {
    const [a, b] = [one[field], other[field]];
    return a === undefined || b === undefined ? (a ?? b) : a + b;
  };
  return {
    inputTokens: add("inputTokens"),
    outputTokens: add("outputTokens"),
    reasoningTokens: add("reasoningTokens"),
    cacheReadTokens: add("cacheReadTokens"),
    cacheWriteTokens: add("cacheWriteTokens"),
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
    default:
      return "other";
  }
}
