/** Reader of Chat Completions chunks, tolerant of what compatible servers omit. */
import type { ChatCompletionChunk } from "openai/resources/chat/completions/completions";
import { AnswerCallIds } from "../common/call-ids.js";
import { errorFactsOf } from "../common/error-body.js";
import { StreamFailure } from "../common/errors.js";
import type { EventReader } from "../common/model-call.js";
import { ReasoningAccumulator, type ReasoningDelta, readReasoning } from "./chat-reasoning.js";
import { chatUsage } from "./chat-usage.js";
import { tolerateMalformed } from "./malformed.js";
import { citedPage } from "./web-search.js";
import { isJsonObject, isJsonObjectText, parseToolArguments } from "../common/prompt-parts.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { ModelStreamPart } from "../types.js";
import { UsageReport } from "../common/usage-report.js";

const BROKE_OFF_TEXT = "the answer broke off with an error";

type Delta = ChatCompletionChunk.Choice.Delta;
type ToolCallDelta = NonNullable<Delta["tool_calls"]>[number];
/** `vendorId`: the id that the server sent, by which its deltas are distinguished. */
type OpenCall = { id: string; vendorId: string | undefined; name: string; deltas: string[] };

type CallState = {
  /** The server that gets its own reasoning back; see chat-reasoning.ts. */
  origin: string | undefined;
  reasoning: ReasoningAccumulator;
  /** Open calls in the order of their first delta; the key is the vendor's index. */
  calls: Map<number, OpenCall>;
  ids: AnswerCallIds;
  /** Cited pages by URL. They are sent after the text, which they would split. */
  sources: Map<string, ModelStreamPart>;
  isReasoning: boolean;
  hasToolCalls: boolean;
  usage: UsageReport;
  finish: FinishReason | undefined;
};

/**
 * A reader for one call. The usage chunk comes after the finish reason, so `finish` waits for the end. `origin` is the
 * server's name from `reasoningOrigin`; without one, reasoning is read but cannot be sent back.
 */
export function createChatReader(origin?: string): EventReader<ChatCompletionChunk> {
  const state: CallState = {
    origin,
    reasoning: new ReasoningAccumulator(),
    calls: new Map(),
    ids: new AnswerCallIds(),
    sources: new Map(),
    isReasoning: false,
    hasToolCalls: false,
    usage: new UsageReport(),
    finish: undefined,
  };
  return tolerateMalformed({
    read: (chunk) => readChunk(state, chunk),
    isFinished: () => state.finish !== undefined,
    end: () => (state.finish === undefined ? [] : [{ type: "finish", reason: state.finish }]),
  });
}

function readChunk(state: CallState, chunk: ChatCompletionChunk): ModelStreamPart[] {
  const failure = errorInChunk(chunk);
  if (failure !== undefined) throw failure;
  const parts: ModelStreamPart[] = [];
  // Azure sends chunks without choices, some gateways without the list.
  const choice = (chunk.choices as ChatCompletionChunk.Choice[] | undefined | null)?.[0];
  if (choice?.delta) parts.push(...readDelta(state, choice.delta));
  if (choice?.finish_reason && state.finish === undefined)
    parts.push(...finishChoice(state, choice.finish_reason));
  if (chunk.usage) parts.push(chatUsage(chunk.usage, state.usage));
  return parts;
}

/** vLLM reports an error in the middle of a stream with its fields at the top, where the SDK does not look for one. */
function errorInChunk(chunk: object): StreamFailure | undefined {
  if (!("object" in chunk) || chunk.object !== "error") return undefined;
  const { message, type, code } = errorFactsOf({ ...chunk }) ?? {};
  const isVendors = message !== undefined;
  return new StreamFailure(String(code ?? type ?? "server_error"), message ?? BROKE_OFF_TEXT, { isVendors });
}

function finishChoice(state: CallState, reason: string): ModelStreamPart[] {
  // OpenRouter's reason when the upstream provider failed.
  if (reason === "error") throw new StreamFailure("server_error", BROKE_OFF_TEXT);
  const parts = [
    ...closeReasoning(state),
    ...state.sources.values(),
    ...closeCalls(state, reason === "length"),
  ];
  state.sources.clear();
  state.finish = finishReason(reason, state.hasToolCalls);
  return parts;
}

function readDelta(state: CallState, delta: Delta): ModelStreamPart[] {
  const content = readContent(delta);
  const parts = addReasoning(state, { ...readReasoning(delta) }, content.thinking);
  if (content.text !== "")
    parts.push(...closeOpenReasoning(state), { type: "text-delta", text: content.text });
  for (const call of delta.tool_calls ?? [])
    parts.push(...closeOpenReasoning(state), ...readToolCallDelta(state, call));
  citeSources(state, delta);
  return parts;
}

function addReasoning(state: CallState, delta: ReasoningDelta, thinking: string): ModelStreamPart[] {
  state.reasoning.add(delta);
  const text = delta.text + thinking;
  if (text === "") return [];
  state.isReasoning = true;
  return [{ type: "reasoning-delta", text }];
}

/** Text, or (Mistral) a list of text and thinking; a refusal is the model's text as well. */
function readContent(delta: Delta): { text: string; thinking: string } {
  const content: unknown = delta.content;
  if (!Array.isArray(content))
    return { text: typeof content === "string" && content ? content : delta.refusal || "", thinking: "" };
  const items = content.filter(isJsonObject);
  return {
    text: items.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "")).join(""),
    thinking: items
      .flatMap(({ thinking }) => (Array.isArray(thinking) ? thinking : []))
      .map((inner) => (isJsonObject(inner) && typeof inner.text === "string" ? inner.text : ""))
      .join(""),
  };
}

function readToolCallDelta(state: CallState, callDelta: ToolCallDelta): ModelStreamPart[] {
  const index = callIndex(state, callDelta);
  let call = state.calls.get(index);
  if (call === undefined) {
    call = { id: state.ids.take(callDelta.id), vendorId: callDelta.id, name: "", deltas: [] };
    state.calls.set(index, call);
  }
  // Some servers repeat the name with each delta.
  if (typeof callDelta.function?.name === "string" && call.name === "") call.name = callDelta.function.name;
  const delta = argumentsDelta(callDelta);
  if (delta === "") return [];
  call.deltas.push(delta);
  return [{ type: "tool-input-delta", toolCallId: call.id, toolName: call.name, delta }];
}

/** Servers that omit the index send whole calls: each delta with a name is the next call. */
function callIndex(state: CallState, delta: ToolCallDelta): number {
  const index: unknown = delta.index;
  if (typeof index === "number") {
    const open = state.calls.get(index);
    // Seen on Gemini's compatible endpoint: parallel calls that all claim index 0.
    return open !== undefined && isOtherCall(open, delta) ? nextIndex(state) : index;
  }
  return delta.function?.name ? nextIndex(state) : nextIndex(state) - 1;
}

/** A server may also repeat the name with each delta of one call, or send the same id for two calls of one answer. */
function isOtherCall({ vendorId, deltas }: OpenCall, delta: ToolCallDelta): boolean {
  if (!delta.function?.name) return false;
  if (delta.id && delta.id !== vendorId) return true;
  const begins = argumentsDelta(delta).startsWith("{") && deltas.at(-1)?.endsWith("}") === true;
  return begins && isJsonObjectText(deltas.join(""));
}

function nextIndex(state: CallState): number {
  return Math.max(-1, ...state.calls.keys()) + 1;
}

/** Ollama's older versions send the arguments as an object. */
function argumentsDelta(delta: ToolCallDelta): string {
  const value: unknown = delta.function?.arguments;
  if (typeof value === "string") return value;
  return isJsonObject(value) ? JSON.stringify(value) : "";
}

/** Before other content: closes reasoning whose text has streamed. */
function closeOpenReasoning(state: CallState): ModelStreamPart[] {
  return state.isReasoning ? closeReasoning(state) : [];
}

/** At the end: closes reasoning, also without text, as the server may require hidden details back. */
function closeReasoning(state: CallState): ModelStreamPart[] {
  if (!state.isReasoning && !state.reasoning.hasDetails) return [];
  const wasReasoning = state.isReasoning;
  state.isReasoning = false;
  const providerMetadata = state.reasoning.take(state.origin);
  if (providerMetadata !== undefined) return [{ type: "reasoning-end", providerMetadata }];
  return wasReasoning ? [{ type: "reasoning-end" }] : [];
}

/** `isCut`: the answer ended at a limit; a call with truncated arguments must not run. */
function closeCalls(state: CallState, isCut: boolean): ModelStreamPart[] {
  const calls = [...state.calls.values()];
  state.calls.clear();
  if (calls.length > 0) state.hasToolCalls = true;
  return calls.map(({ id, name, deltas }) => {
    const text = deltas.join("");
    const call = { type: "tool-call" as const, toolCallId: id, toolName: name };
    if (isCut && !isJsonObjectText(text)) return { ...call, arguments: {}, isCut };
    return { ...call, arguments: parseToolArguments(text) };
  });
}

/** OpenAI's search models and OpenRouter cite this way. */
function citeSources(state: CallState, delta: Delta): void {
  const annotations: unknown = Reflect.get(delta, "annotations");
  if (!Array.isArray(annotations)) return;
  for (const annotation of annotations) {
    const citation: unknown = isJsonObject(annotation) ? annotation.url_citation : undefined;
    const page = isJsonObject(citation) ? citedPage({ ...citation, type: "url_citation" }) : undefined;
    if (page !== undefined && !state.sources.has(page.url)) state.sources.set(page.url, page);
  }
}

/** Some servers send `stop` after a tool call. */
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
