/** Builder of requests for OpenAI's Responses API. Pure. */
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseIncludable,
  ResponseInputContent,
  ResponseInputItem,
  Tool,
  WebSearchTool,
} from "openai/resources/responses/responses";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { PromptPart, ReasoningPart, TextPart, ToolCallPart } from "../../domain/chats/message-parts.js";
import { sanitizeToolCallId } from "../common/call-ids.js";
import { filePlaceholder } from "../common/file-parts.js";
import {
  filesTaken,
  mergeExtraBody,
  OPENAI_CONTEXT,
  promptCacheKey,
  type PromptContext,
  showFile,
  type ShownFile,
  showResultFile,
} from "./fields.js";
import type { AnyResponsesOptions } from "./options.js";
import {
  fileReferenceText,
  isJsonObject,
  markedToolResultText,
  ownMetadata,
  wellFormed,
} from "../common/prompt-parts.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "../types.js";

/** `isStored`: the vendor stores the answers, so their reasoning is not sent again. */
type ResponsesContext = PromptContext & { isStored: boolean };

const DEFAULT_CONTEXT: ResponsesContext = { ...OPENAI_CONTEXT, isStored: false };

/** The whole request body. Parts that this vendor does not accept are omitted or become placeholders; never throws. */
export function buildResponsesRequest(
  request: ModelRequest,
  kind: ModelProviderKind,
  options: AnyResponsesOptions,
): ResponseCreateParamsStreaming {
  const { model, system, messages, maxOutputTokens, files } = request;
  const isStored = options.store;
  const taken = filesTaken(kind, model);
  const context = { ...DEFAULT_CONTEXT, kind, isStored, ...taken, ...(files ? { files } : {}) };
  const tools = allTools(request.tools, options.webSearch);
  const include = includedFields(options);
  const body: ResponseCreateParamsStreaming = {
    model,
    stream: true,
    store: isStored,
    ...(include.length === 0 ? {} : { include }),
    input: toInputItems(messages, context),
    ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
    ...(system.trim() === "" ? {} : { instructions: wellFormed(system) }),
    ...(tools.length === 0 ? {} : { tools, ...toolFields(request, options) }),
    ...reasoningFields(request.reasoningEffort, options.reasoningSummary),
    ...(options.verbosity === undefined ? {} : { text: { verbosity: options.verbosity } }),
    ...(options.maxToolCalls === undefined ? {} : { max_tool_calls: options.maxToolCalls }),
    metadata: options.metadata,
    prompt_cache_key: promptCacheKey(kind, options.promptCacheKey, request.cacheKey),
    safety_identifier: options.safetyIdentifier,
    // The API knows more tiers than the types of this version of the SDK.
    service_tier: options.serviceTier as ResponseCreateParamsStreaming["service_tier"],
    temperature: options.temperature,
    top_p: options.topP,
  };
  return mergeExtraBody(body, options.extraBody);
}

/**
 * The request as a continuation of the newest answer, with only the messages after it, when the vendor has stored that
 * answer and there are such messages; undefined otherwise.
 */
export function continueResponse(
  request: ModelRequest,
  { store }: AnyResponsesOptions,
): ContinuedRequest | undefined {
  if (!store) return undefined;
  const last = request.messages.findLastIndex(({ role }) => role === "assistant");
  const responseId = request.messages[last]?.responseId;
  const messages = request.messages.slice(last + 1);
  if (responseId === undefined || responseId === "" || toInputItems(messages).length === 0) return undefined;
  return { responseId, request: { ...request, messages } };
}
export type ContinuedRequest = { responseId: string; request: ModelRequest };

/** Input items in the order of the history. */
export function toInputItems(
  messages: PromptMessage[],
  context: ResponsesContext = DEFAULT_CONTEXT,
): ResponseInputItem[] {
  return messages.flatMap((message) => {
    if (message.role === "assistant")
      return dropTrailingReasoning(message.parts.flatMap((part) => assistantItems(part, context)));
    if (message.role === "tool") return message.parts.flatMap((part) => resultItems(part, context));
    return userItems(message.parts, context);
  });
}

function includedFields({ store, webSearch }: AnyResponsesOptions): ResponseIncludable[] {
  return [
    // Reasoning that the vendor does not store must be sent, encrypted, with the history.
    ...(store ? [] : (["reasoning.encrypted_content"] as const)),
    ...(webSearch ? (["web_search_call.action.sources"] as const) : []),
  ];
}

function allTools(tools: ToolDefinition[], search: AnyResponsesOptions["webSearch"]): Tool[] {
  return [...tools.map(toFunctionTool), ...(search ? [searchTool(search)] : [])];
}

/** Both are refused in a request without tools. */
function toolFields({ toolChoice }: ModelRequest, { parallelToolCalls }: AnyResponsesOptions) {
  return { tool_choice: toolChoice, parallel_tool_calls: parallelToolCalls };
}

/** A summary is requested with every effort; a configured one also without, for models that think by default. */
function reasoningFields(
  effort: ModelRequest["reasoningEffort"],
  configured: AnyResponsesOptions["reasoningSummary"],
): Pick<ResponseCreateParamsStreaming, "reasoning"> {
  const wanted = configured ?? (effort === undefined ? "off" : "auto");
  const summary = wanted === "off" || effort === "none" ? undefined : wanted;
  return effort === undefined && summary === undefined ? {} : { reasoning: { effort, summary } };
}

/** Not strict: the tools' schemas have optional fields, which strict mode refuses. */
function toFunctionTool({ name, description, inputSchema }: ToolDefinition): FunctionTool {
  return {
    type: "function",
    name,
    description,
    parameters: { ...inputSchema, type: "object" },
    strict: false,
  };
}

function searchTool({
  allowedDomains,
  contextSize,
}: NonNullable<AnyResponsesOptions["webSearch"]>): WebSearchTool {
  return {
    type: "web_search",
    ...(allowedDomains === undefined ? {} : { filters: { allowed_domains: allowedDomains } }),
    ...(contextSize === undefined ? {} : { search_context_size: contextSize }),
  };
}

/** One message; its content is a string when there is only text. */
function userItems(parts: PromptPart[], context: ResponsesContext): ResponseInputItem[] {
  const content = parts.flatMap((part) => userContent(part, context));
  if (content.length === 0) return [];
  const texts = content.flatMap((item) => (item.type === "input_text" ? [item.text] : []));
  return [{ role: "user", content: texts.length === content.length ? texts.join("\n\n") : content }];
}

function userContent(part: PromptPart, context: ResponsesContext): ResponseInputContent[] {
  if (part.type !== "file") return textOf(part).map((text) => ({ type: "input_text", text }));
  return [contentOf(showFile(part, context))];
}

function contentOf(shown: ShownFile): ResponseInputContent {
  switch (shown.type) {
    case "image":
      return { type: "input_image", detail: "auto", image_url: shown.dataUrl };
    case "pdf":
      return { type: "input_file", filename: wellFormed(shown.name), file_data: shown.dataUrl };
    case "text":
      return { type: "input_text", text: shown.text };
  }
}

function textOf(part: PromptPart): string[] {
  if (part.type === "file-reference") return [fileReferenceText(part)];
  return part.type === "text" && part.text.trim() !== "" ? [wellFormed(part.text)] : [];
}

function resultItems(part: PromptPart, context: ResponsesContext): ResponseInputItem[] {
  if (part.type !== "tool-result" || part.isProviderExecuted) return [];
  const call_id = sanitizeToolCallId(part.toolCallId);
  const output = markedToolResultText(part);
  const { files = [] } = part;
  if (files.length === 0) return [{ type: "function_call_output", call_id, output }];
  const text: ResponseInputContent[] = output.trim() === "" ? [] : [{ type: "input_text", text: output }];
  const shown = files.map((file) => contentOf(showResultFile(file, context)));
  return [{ type: "function_call_output", call_id, output: [...text, ...shown] }];
}

function assistantItems(part: PromptPart, context: ResponsesContext): ResponseInputItem[] {
  switch (part.type) {
    case "text":
      return textOf(part).map((content) => ({ role: "assistant", content, ...phaseOf(part, context) }));
    case "file-reference":
      return textOf(part).map((content) => ({ role: "assistant", content }));
    case "file":
      // Only user messages may contain files in this format.
      return [{ role: "assistant", content: filePlaceholder(part, "unsupported") }];
    case "reasoning":
      return context.isStored ? [] : reasoningItems(part, context);
    case "tool-call":
      return part.isProviderExecuted ? searchItems(part, context) : [functionCallItem(part)];
    case "tool-result":
    case "source":
      return [];
  }
}

/** Whether the text was commentary or the answer; newer models perform worse without it. */
function phaseOf(part: TextPart, { kind }: ResponsesContext): { phase?: "commentary" | "final_answer" } {
  const { phase } = ownMetadata(part.providerMetadata, kind);
  return phase === "commentary" || phase === "final_answer" ? { phase } : {};
}

/** Reasoning is sent only as this vendor sent it: encrypted, or (servers of open models) as plain text. */
function reasoningItems(part: ReasoningPart, { kind }: ResponsesContext): ResponseInputItem[] {
  const { itemId, encryptedContent, isPlain } = ownMetadata(part.providerMetadata, kind);
  if (typeof itemId !== "string") return [];
  const text = part.text.trim() === "" ? "" : wellFormed(part.text);
  if (isPlain === true && text !== "")
    return [{ type: "reasoning", id: itemId, summary: [], content: [{ type: "reasoning_text", text }] }];
  if (typeof encryptedContent !== "string") return [];
  const summary = text === "" ? [] : [{ type: "summary_text" as const, text }];
  return [{ type: "reasoning", id: itemId, summary, encrypted_content: encryptedContent }];
}

/** Without the item's own id: with it, the vendor would require the preceding reasoning item. */
function functionCallItem(part: ToolCallPart): ResponseInputItem {
  return {
    type: "function_call",
    call_id: sanitizeToolCallId(part.toolCallId),
    name: part.toolName,
    arguments: wellFormed(JSON.stringify(part.arguments)),
  };
}

/**
 * One of this vendor's searches; the item is both the call and its result. Omitted with stored reasoning: its id would
 * require the preceding reasoning item, and its findings are in the answer's text.
 */
function searchItems(part: ToolCallPart, { kind, isStored }: ResponsesContext): ResponseInputItem[] {
  const { itemId, action, status } = ownMetadata(part.providerMetadata, kind);
  if (typeof itemId !== "string" || isStored) return [];
  const query = typeof part.arguments.query === "string" ? part.arguments.query : "";
  return [
    {
      type: "web_search_call",
      id: itemId,
      status: status === "failed" ? status : "completed",
      // The vendor's own content, stored unchanged.
      action: isJsonObject(action) ? (action as unknown as SearchAction) : { type: "search", query },
    },
  ];
}
type SearchAction = Extract<ResponseInputItem, { type: "web_search_call" }>["action"];

/** The vendor refuses reasoning "without its required following item", which an interrupted step leaves behind. */
function dropTrailingReasoning(items: ResponseInputItem[]): ResponseInputItem[] {
  const last = items.findLastIndex((item) => !("type" in item) || item.type !== "reasoning");
  return items.slice(0, last + 1);
}
