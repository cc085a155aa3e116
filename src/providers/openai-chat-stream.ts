/** Chat Completions chunks → our parts, forgiving what compatible servers leave out. */
import { randomUUID } from "node:crypto";
import type { ChatCompletionChunk } from "openai/resources/chat/completions/completions";
import type { CompletionUsage } from "openai/resources/completions";
import type { EventReader } from "./model-call.js";
import { isJsonObject, parseToolArguments } from "./prompt-parts.js";
import type { FinishReason, ModelStreamPart } from "./types.js";

type Delta = ChatCompletionChunk.Choice.Delta;
type ToolCallPiece = NonNullable<Delta["tool_calls"]>[number];
type OpenCall = { id: string; name: string; pieces: string[] };

type CallState = {
  /** Calls under way in the order of their first piece; the key is the vendor's index. */
  calls: Map<number, OpenCall>;
  isReasoning: boolean;
  hasToolCalls: boolean;
  finish: FinishReason | undefined;
};

/** A reader for one call. The usage chunk comes after the finish reason, so `finish` waits for the end. */
export function createChatReader(): EventReader<ChatCompletionChunk> {
  const state: CallState = { calls: new Map(), isReasoning: false, hasToolCalls: false, finish: undefined };
  return {
    read: (chunk) => readChunk(state, chunk),
    end: () => (state.finish === undefined ? [] : [{ type: "finish", reason: state.finish }]),
  };
}

function readChunk(state: CallState, chunk: ChatCompletionChunk): ModelStreamPart[] {
  const parts: ModelStreamPart[] = [];
  // Azure sends chunks without choices, some gateways without the list.
  const choice = (chunk.choices as ChatCompletionChunk.Choice[] | undefined)?.[0];
  if (choice?.delta) parts.push(...readDelta(state, choice.delta));
  if (choice?.finish_reason) {
    parts.push(...closeReasoning(state), ...closeCalls(state));
    state.finish = finishReason(choice.finish_reason, state.hasToolCalls);
  }
  if (chunk.usage) parts.push(usagePart(chunk.usage));
  return parts;
}

function readDelta(state: CallState, delta: Delta): ModelStreamPart[] {
  const parts: ModelStreamPart[] = [];
  const reasoning = reasoningText(delta);
  if (reasoning !== "") {
    state.isReasoning = true;
    parts.push({ type: "reasoning-delta", text: reasoning });
  }
  const text = delta.content || delta.refusal || "";
  if (text !== "") parts.push(...closeReasoning(state), { type: "text-delta", text });
  for (const piece of delta.tool_calls ?? [])
    parts.push(...closeReasoning(state), ...readToolCallPiece(state, piece));
  parts.push(...citedSources(delta));
  return parts;
}

/** vLLM, DeepSeek and others say `reasoning_content`, OpenRouter and Ollama `reasoning`; OpenAI says nothing. */
function reasoningText(delta: Delta): string {
  const text: unknown = Reflect.get(delta, "reasoning_content") ?? Reflect.get(delta, "reasoning");
  return typeof text === "string" ? text : "";
}

function readToolCallPiece(state: CallState, piece: ToolCallPiece): ModelStreamPart[] {
  const index = callIndex(state, piece);
  let call = state.calls.get(index);
  if (call === undefined) {
    // Some servers send no ids at all; ours must differ in every call of a chat.
    call = { id: piece.id || `call_${randomUUID()}`, name: "", pieces: [] };
    state.calls.set(index, call);
  }
  // A server that repeats the name with each piece must not make it longer.
  if (piece.function?.name && call.name === "") call.name = piece.function.name;
  const delta = argumentsPiece(piece);
  if (delta === "") return [];
  call.pieces.push(delta);
  return [{ type: "tool-input-delta", toolCallId: call.id, toolName: call.name, delta }];
}

/** Servers that leave the index out send whole calls: each new id, or a piece with a name, is the next call. */
function callIndex(state: CallState, piece: ToolCallPiece): number {
  const index: unknown = piece.index;
  if (typeof index === "number") {
    const open = state.calls.get(index);
    // Seen on Gemini's compatible endpoint: parallel calls that all claim index 0, told apart by their ids.
    const isOther = open !== undefined && piece.id && piece.id !== open.id && piece.function?.name;
    return isOther ? nextIndex(state) : index;
  }
  return piece.function?.name ? nextIndex(state) : nextIndex(state) - 1;
}

function nextIndex(state: CallState): number {
  return Math.max(-1, ...state.calls.keys()) + 1;
}

/** Ollama's older versions send the arguments as an object. */
function argumentsPiece(piece: ToolCallPiece): string {
  const given: unknown = piece.function?.arguments;
  if (typeof given === "string") return given;
  return isJsonObject(given) ? JSON.stringify(given) : "";
}

function closeReasoning(state: CallState): ModelStreamPart[] {
  if (!state.isReasoning) return [];
  state.isReasoning = false;
  return [{ type: "reasoning-end" }];
}

function closeCalls(state: CallState): ModelStreamPart[] {
  const calls = [...state.calls.values()];
  state.calls.clear();
  if (calls.length > 0) state.hasToolCalls = true;
  return calls.map(({ id, name, pieces }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    arguments: parseToolArguments(pieces.join("")),
  }));
}

/** OpenAI's search models and OpenRouter cite this way. */
function citedSources(delta: Delta): ModelStreamPart[] {
  const annotations: unknown = Reflect.get(delta, "annotations");
  if (!Array.isArray(annotations)) return [];
  return annotations.flatMap((annotation: unknown): ModelStreamPart[] => {
    const citation = isJsonObject(annotation) ? annotation.url_citation : undefined;
    if (!isJsonObject(citation) || typeof citation.url !== "string") return [];
    const { url, title } = citation;
    return [{ type: "source", url, ...(typeof title === "string" && title !== "" ? { title } : {}) }];
  });
}

function usagePart(usage: CompletionUsage): ModelStreamPart {
  const cacheReadTokens = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    type: "usage",
    usage: {
      inputTokens: Math.max(0, (usage.prompt_tokens ?? 0) - cacheReadTokens),
      outputTokens: usage.completion_tokens ?? 0,
      reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
      cacheReadTokens,
      cacheWriteTokens: 0,
    },
  };
}

/** Some servers say `stop` although they called a tool. */
function finishReason(reason: string, hasToolCalls: boolean): FinishReason {
  switch (reason) {
    case "stop":
      return hasToolCalls ? "tool-calls" : "stop";
    case "tool_calls":
    case "function_call":
      return "tool-calls";
    case "length":
      return "length";
    case "content_filter":
      return "content-filter";
    default:
      return "other";
  }
}
