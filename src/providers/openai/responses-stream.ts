/** Reader of the events of OpenAI's Responses API. */
import type {
  Response,
  ResponseFunctionToolCall,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { JsonObject } from "../../domain/common/json.js";
import { AnswerCallIds } from "../common/call-ids.js";
import { StreamFailure } from "../common/errors.js";
import type { EventReader } from "../common/model-call.js";
import { tolerateMalformed } from "./malformed.js";
import { citedPage, searchParts } from "./web-search.js";
import { parseToolArguments } from "../common/prompt-parts.js";
import type { FinishReason } from "../../domain/chats/finish-reasons.js";
import type { ModelStreamPart } from "../types.js";
import { UsageReport } from "../common/usage-report.js";

/** Between two paragraphs of a reasoning summary, as the vendor separates them in its own products. */
const SUMMARY_SEPARATOR = "\n\n";

export type ResponsesReaderOptions = {
  /** The provider under whose name metadata is stored. */
  kind: ModelProviderKind;
  /** Whether the vendor stores the response, so that its id can be used. */
  isStored: boolean;
};

/** Items are identified by id and by index: some proxies send another id in each event. */
type ItemKey = { id?: string | undefined; index: number | undefined };

/** `vendorId`: the id that the vendor sent. `text`: the arguments, once they are complete. */
type OpenCall = { callId: string; vendorId: string; name: string; text: string | undefined };

type CallState = ResponsesReaderOptions & {
  /** Open function calls, for the names of argument deltas. */
  calls: Map<string | number, OpenCall>;
  ids: AnswerCallIds;
  /** Items whose text has begun to stream; a done item repeats it. */
  streamedItems: Set<string | number>;
  /** Items that are done; some proxies send the event twice. */
  doneItems: Set<string | number>;
  /** Cited pages. They are sent after the text, which they would split. */
  sources: ModelStreamPart[];
  /** URLs of all cited pages: each page becomes a source once in an answer. */
  citedUrls: Set<string>;
  isTextOpen: boolean;
  hasToolCalls: boolean;
};

/** A reader for one call. */
export function createResponsesReader(
  options: ResponsesReaderOptions = { kind: "openai", isStored: false },
): EventReader<ResponseStreamEvent> {
  const state: CallState = {
    ...options,
    calls: new Map(),
    ids: new AnswerCallIds(),
    streamedItems: new Set(),
    doneItems: new Set(),
    sources: [],
    citedUrls: new Set(),
    isTextOpen: false,
    hasToolCalls: false,
  };
  // The stop reason arrives with the last event.
  const isFinished = () => false;
  return tolerateMalformed({ read: (event) => readEvent(state, event), isFinished, end: () => [] });
}

function readEvent(state: CallState, event: ResponseStreamEvent): ModelStreamPart[] {
  switch (event.type) {
    case "response.output_item.added":
      return beginItem(state, event.item, event.output_index);
    case "response.output_text.delta":
    case "response.refusal.delta":
      remember(state.streamedItems, nameOf(event));
      return textPart(state, event.delta);
    case "response.reasoning_summary_part.added":
      return event.summary_index > 0 && isIn(state.streamedItems, nameOf(event))
        ? [{ type: "reasoning-delta", text: SUMMARY_SEPARATOR }]
        : [];
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      remember(state.streamedItems, nameOf(event));
      return event.delta === "" ? [] : [{ type: "reasoning-delta", text: event.delta }];
    case "response.output_text.annotation.added":
      cite(state, event.annotation);
      return [];
    case "response.function_call_arguments.delta": {
      const call = state.calls.get(event.item_id) ?? state.calls.get(event.output_index);
      if (call === undefined || event.delta === "") return [];
      return [{ type: "tool-input-delta", toolCallId: call.callId, toolName: call.name, delta: event.delta }];
    }
    case "response.output_item.done":
      return finishItem(state, event.item, event.output_index);
    case "response.completed":
    case "response.incomplete":
      return finishResponse(state, event.response, event.type === "response.completed");
    case "response.failed": {
      const error = event.response?.error;
      throw new StreamFailure(error?.code ?? "server_error", error?.message ?? "the response failed", {
        isVendors: error?.message !== undefined,
      });
    }
    case "error":
      throw new StreamFailure(event.code ?? "server_error", event.message, { isVendors: true });
    default:
      return [];
  }
}

function nameOf(event: { item_id?: string; output_index?: number }): ItemKey {
  return { id: event.item_id, index: event.output_index };
}

function remember(names: Set<string | number>, { id, index }: ItemKey): void {
  if (id !== undefined) names.add(id);
  if (index !== undefined) names.add(index);
}

function isIn(names: Set<string | number>, { id, index }: ItemKey): boolean {
  return (id !== undefined && names.has(id)) || (index !== undefined && names.has(index));
}

/** Two messages in one answer are two text parts. */
function beginItem(state: CallState, item: ResponseOutputItem, index: number | undefined): ModelStreamPart[] {
  const wasTextOpen = state.isTextOpen;
  state.isTextOpen = false;
  if (item.type === "message") return wasTextOpen ? [{ type: "text-end" }] : [];
  if (item.type !== "function_call") return [];
  beginCall(state, item, { id: item.id, index });
  return [];
}

function beginCall(state: CallState, item: ResponseFunctionToolCall, { id, index }: ItemKey): OpenCall {
  const call: OpenCall = {
    callId: state.ids.take(item.call_id),
    vendorId: item.call_id,
    name: textOr(item.name),
    text: undefined,
  };
  if (id !== undefined) state.calls.set(id, call);
  if (index !== undefined) state.calls.set(index, call);
  if (id === undefined && index === undefined) state.calls.set(`unnamed ${state.calls.size}`, call);
  return call;
}

function textPart(state: CallState, text: string): ModelStreamPart[] {
  if (text === "") return [];
  state.isTextOpen = true;
  return [{ type: "text-delta", text }];
}

/** The parts that close a message's text: its phase, then the pages cited in it. */
function endMessage(state: CallState, item: ResponseOutputMessage, name: ItemKey): ModelStreamPart[] {
  const parts: ModelStreamPart[] = [];
  for (const content of item.content ?? []) {
    const text = content.type === "refusal" ? content.refusal : content.text;
    if (!isIn(state.streamedItems, name)) parts.push(...textPart(state, text ?? ""));
    if (content.type === "output_text")
      for (const annotation of content.annotations ?? []) cite(state, annotation);
  }
  if (item.phase && state.isTextOpen) {
    parts.push({ type: "text-end", providerMetadata: { [state.kind]: { phase: item.phase } } });
    state.isTextOpen = false;
  }
  return [...parts, ...state.sources.splice(0)];
}

function cite(state: CallState, annotation: unknown): void {
  const page = citedPage(annotation);
  if (page === undefined || state.citedUrls.has(page.url)) return;
  state.citedUrls.add(page.url);
  state.sources.push(page);
}

function finishItem(
  state: CallState,
  item: ResponseOutputItem,
  index: number | undefined,
): ModelStreamPart[] {
  const name: ItemKey = { id: "id" in item ? item.id : undefined, index };
  if (isIn(state.doneItems, name)) return [];
  remember(state.doneItems, name);
  switch (item.type) {
    case "message":
      return endMessage(state, item, name);
    case "reasoning":
      return finishReasoning(state, item, name);
    case "function_call":
      return finishCall(state, item, name);
    case "web_search_call":
      return searchParts(item, state.kind);
    default:
      return [];
  }
}

/** A call with truncated arguments must not run. */
function finishCall(state: CallState, item: ResponseFunctionToolCall, name: ItemKey): ModelStreamPart[] {
  state.hasToolCalls = true;
  const call = callOf(state, item, name) ?? beginCall(state, item, name);
  // A duplicate event of a proxy that omits the index.
  if (call.text !== undefined) return [];
  call.text = textOr(item.arguments);
  const made = { type: "tool-call" as const, toolCallId: call.callId, toolName: textOr(item.name) };
  if (item.status === "incomplete") return [{ ...made, arguments: {}, isCut: true }];
  return [{ ...made, arguments: parseToolArguments(item.arguments) }];
}

/** The open call of an item: by its key, or by the vendor's call id when a proxy changes the item's id at its end. */
function callOf(
  { calls }: CallState,
  item: ResponseFunctionToolCall,
  { id, index }: ItemKey,
): OpenCall | undefined {
  const named =
    (id === undefined ? undefined : calls.get(id)) ?? (index === undefined ? undefined : calls.get(index));
  if (named !== undefined || index !== undefined) return named;
  const candidates = [...calls.values()].filter(({ vendorId }) => vendorId === item.call_id);
  return (
    candidates.find(({ text }) => text === undefined) ??
    candidates.find(({ text }) => text === item.arguments)
  );
}

/** Servers may omit required fields. */
function textOr(text: unknown): string {
  return typeof text === "string" ? text : "";
}

function finishReasoning(state: CallState, item: ResponseReasoningItem, name: ItemKey): ModelStreamPart[] {
  const summary = textsOf(item.summary).join(SUMMARY_SEPARATOR);
  const text = summary === "" ? textsOf(item.content).join("") : summary;
  const parts: ModelStreamPart[] =
    isIn(state.streamedItems, name) || text === "" ? [] : [{ type: "reasoning-delta", text }];
  const metadata = reasoningMetadata(state, item);
  if (metadata === undefined) return [...parts, { type: "reasoning-end" }];
  return [...parts, { type: "reasoning-end", providerMetadata: { [state.kind]: metadata } }];
}

/** Open models reason in plain text, which their servers require back. */
function reasoningMetadata(
  { kind, isStored }: CallState,
  item: ResponseReasoningItem,
): JsonObject | undefined {
  if (isStored) return undefined;
  if (item.encrypted_content) return { itemId: item.id, encryptedContent: item.encrypted_content };
  const isPlain = kind === "openai_compatible" && item.content?.length && textsOf(item.summary).length === 0;
  return isPlain ? { itemId: item.id, isPlain: true } : undefined;
}

function textsOf(texts: { text: string }[] | undefined | null): string[] {
  return (texts ?? []).map(({ text }) => text);
}

function finishResponse(state: CallState, response: Response, isComplete: boolean): ModelStreamPart[] {
  // Some servers send only the last event.
  const hasNoEvents = state.doneItems.size === 0 && state.streamedItems.size === 0;
  const items = hasNoEvents
    ? (response.output ?? []).flatMap((item, index) => finishItem(state, item, index))
    : [];
  // An organisation may forbid storing answers, despite the request.
  const isStored = state.isStored && isComplete && response.id && Reflect.get(response, "store") !== false;
  return [
    ...items,
    ...state.sources.splice(0),
    ...(isStored ? [{ type: "response" as const, id: response.id }] : []),
    ...usagePart(response),
    { type: "finish", reason: finishReason(state, response) },
  ];
}

/** Compatible servers may omit the details, despite the types. */
function usagePart(response: Response): ModelStreamPart[] {
  const { usage } = response;
  if (!usage) return [];
  const report = new UsageReport();
  const { input_tokens_details: read, output_tokens_details: written } = usage as Partial<typeof usage>;
  return [
    report.part({
      ...report.uncached(
        report.count("input_tokens", usage.input_tokens),
        report.count("cached_tokens", read?.cached_tokens),
        report.count("cache_write_tokens", read?.cache_write_tokens),
      ),
      outputTokens: report.count("output_tokens", usage.output_tokens),
      reasoningTokens: report.count("reasoning_tokens", written?.reasoning_tokens),
    }),
  ];
}

function finishReason(state: CallState, { incomplete_details: incomplete }: Response): FinishReason {
  if (incomplete?.reason === "max_output_tokens") return "length";
  if (incomplete?.reason === "content_filter") return "content-filter";
  if (incomplete) return "other";
  return state.hasToolCalls ? "tool-calls" : "stop";
}
