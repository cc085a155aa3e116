/** Builder of Chat Completions requests. Pure. */
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions/completions";
import type { ModelProviderKind } from "../../domain/common/failures.js";
import type { PromptPart } from "../../domain/chats/message-parts.js";
import { CHAT_ID_LIMIT_CHARACTERS, nineCharacterId, sanitizeToolCallId } from "../common/call-ids.js";
import { filePlaceholder } from "../common/file-parts.js";
import { replayedReasoning } from "./chat-reasoning.js";
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
import type { AnyChatOptions } from "./options.js";
import { fileReferenceText, markedToolResultText, wellFormed } from "../common/prompt-parts.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "../types.js";

/** The server that the request is for. */
export type ChatServer = {
  kind: ModelProviderKind;
  /** The server that gets its own reasoning back (see chat-reasoning.ts); undefined for OpenAI, which accepts none. */
  origin: string | undefined;
  /** The server has refused messages without reasoning: each must have some, perhaps empty. */
  needsReasoning?: boolean;
  /** The server has refused call ids that do not have Mistral's nine characters. */
  needsNineCharacterIds?: boolean;
};

type ChatContext = PromptContext & {
  origin: string | undefined;
  isRequiredEverywhere: boolean;
  /** The id of a call in the form that the server accepts. */
  callId: (id: string) => string;
};

const chatCallId = (id: string) => sanitizeToolCallId(id, CHAT_ID_LIMIT_CHARACTERS);

const DEFAULT_CONTEXT: ChatContext = {
  ...OPENAI_CONTEXT,
  origin: undefined,
  isRequiredEverywhere: false,
  callId: chatCallId,
};

/**
 * The whole request body; never throws. Compatible servers use the older `max_tokens`; OpenAI's newer models refuse it.
 */
export function buildChatRequest(
  request: ModelRequest,
  { kind, origin, needsReasoning = false, needsNineCharacterIds = false }: ChatServer,
  options: AnyChatOptions,
): ChatCompletionCreateParamsStreaming {
  const { model, system, messages, tools, maxOutputTokens, files } = request;
  const isCompatible = kind === "openai_compatible";
  const taken = filesTaken(kind, model);
  const context: ChatContext = {
    kind,
    origin: options.replayReasoning === false ? undefined : origin,
    isRequiredEverywhere: needsReasoning,
    callId: needsNineCharacterIds ? nineCharacterId : chatCallId,
    files: files ?? OPENAI_CONTEXT.files,
    acceptsImages: options.acceptsImages ?? taken.acceptsImages,
    // Azure's Chat Completions has no file parts, its Responses API has.
    acceptsPdfs: options.acceptsPdfs ?? (kind === "openai" && taken.acceptsPdfs),
  };
  const body: ChatCompletionCreateParamsStreaming = {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...systemMessages(system), ...toChatMessages(messages, context)],
    ...limitFields(maxOutputTokens, isCompatible),
    ...(tools.length === 0 ? {} : { tools: tools.map(toChatTool), ...toolFields(request, options) }),
    ...reasoningFields(request.reasoningEffort, options.reasoningEffortStyle),
    metadata: options.metadata,
    prompt_cache_key: promptCacheKey(kind, options.promptCacheKey, request.cacheKey),
    safety_identifier: options.safetyIdentifier,
    // The API knows more tiers than the types of this version of the SDK.
    service_tier: options.serviceTier as ChatCompletionCreateParamsStreaming["service_tier"],
    store: options.store,
    temperature: options.temperature,
    top_p: options.topP,
    verbosity: options.verbosity,
  };
  return mergeExtraBody(body, options.extraBody);
}

/** Messages in order; neighbouring user messages are merged, as many chat templates require. */
export function toChatMessages(
  messages: PromptMessage[],
  context: ChatContext = DEFAULT_CONTEXT,
): ChatCompletionMessageParam[] {
  const reasoning = replayedReasoning(messages, context);
  const result: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    for (const next of toMessages(message, context)) {
      const last = result.at(-1);
      if (last?.role === "user" && next.role === "user")
        last.content = joinContent(last.content, next.content);
      else result.push(next.role === "assistant" ? { ...next, ...reasoning(message) } : next);
    }
  }
  return result;
}

function systemMessages(system: string): ChatCompletionMessageParam[] {
  return system.trim() === "" ? [] : [{ role: "system", content: wellFormed(system) }];
}

function limitFields(tokens: number | null, isCompatible: boolean) {
  if (tokens === null) return {};
  return isCompatible ? { max_tokens: tokens } : { max_completion_tokens: tokens };
}

/** Both are refused in a request without tools. */
function toolFields({ toolChoice }: ModelRequest, { parallelToolCalls }: AnyChatOptions) {
  return { tool_choice: toolChoice, parallel_tool_calls: parallelToolCalls };
}

function reasoningFields(
  effort: ModelRequest["reasoningEffort"],
  style: AnyChatOptions["reasoningEffortStyle"],
): Pick<ChatCompletionCreateParamsStreaming, "reasoning_effort"> & { reasoning?: { effort: string } } {
  if (effort === undefined || style === "off") return {};
  return style === "reasoning" ? { reasoning: { effort } } : { reasoning_effort: effort };
}

function toChatTool({ name, description, inputSchema }: ToolDefinition): ChatCompletionFunctionTool {
  return {
    type: "function",
    function: { name, description, parameters: { ...inputSchema, type: "object" } },
  };
}

function toMessages(message: PromptMessage, context: ChatContext): ChatCompletionMessageParam[] {
  if (message.role === "tool") return toolMessages(message.parts, context);
  if (message.role === "user") return userMessages(message.parts, context);
  const content = message.parts.flatMap(assistantText).join("\n\n");
  const tool_calls = message.parts.flatMap((part) => toolCalls(part, context));
  if (tool_calls.length > 0)
    return [{ role: "assistant", content: content === "" ? null : content, tool_calls }];
  return content === "" ? [] : [{ role: "assistant", content }];
}

type UserContent = string | ChatCompletionContentPart[];

/** A string when there is only text: not every server accepts lists. */
function userMessages(parts: PromptPart[], context: ChatContext): ChatCompletionMessageParam[] {
  const content = parts.flatMap((part) => userContent(part, context));
  if (content.length === 0) return [];
  const texts = content.flatMap((item) => (item.type === "text" ? [item.text] : []));
  return [{ role: "user", content: texts.length === content.length ? texts.join("\n\n") : content }];
}

function joinContent(before: UserContent, after: UserContent): UserContent {
  if (typeof before === "string" && typeof after === "string") return `${before}\n\n${after}`;
  return [...asList(before), ...asList(after)];
}

function asList(content: UserContent): ChatCompletionContentPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function userContent(part: PromptPart, context: ChatContext): ChatCompletionContentPart[] {
  if (part.type !== "file") return textOf(part).map((text) => ({ type: "text", text }));
  return [contentOf(showFile(part, context))];
}

function contentOf(shown: ShownFile): ChatCompletionContentPart {
  switch (shown.type) {
    case "image":
      return { type: "image_url", image_url: { url: shown.dataUrl } };
    case "pdf":
      return { type: "file", file: { filename: wellFormed(shown.name), file_data: shown.dataUrl } };
    case "text":
      return { type: "text", text: shown.text };
  }
}

function assistantText(part: PromptPart): string[] {
  return part.type === "file" ? [filePlaceholder(part, "unsupported")] : textOf(part);
}

function textOf(part: PromptPart): string[] {
  if (part.type === "file-reference") return [fileReferenceText(part)];
  return part.type === "text" && part.text.trim() !== "" ? [wellFormed(part.text)] : [];
}

function toolCalls(part: PromptPart, { callId }: ChatContext): ChatCompletionMessageFunctionToolCall[] {
  if (part.type !== "tool-call" || part.isProviderExecuted) return [];
  const args = wellFormed(JSON.stringify(part.arguments));
  return [
    {
      id: callId(part.toolCallId),
      type: "function",
      function: { name: part.toolName, arguments: args },
    },
  ];
}

/**
 * The results of a step. Results contain only text in this format: images and documents follow the last of them in a
 * user message, each under a line with its call.
 */
function toolMessages(parts: PromptPart[], context: ChatContext): ChatCompletionMessageParam[] {
  const results: ChatCompletionMessageParam[] = [];
  const seen: ChatCompletionContentPart[] = [];
  for (const part of parts) {
    if (part.type !== "tool-result" || part.isProviderExecuted) continue;
    const tool_call_id = context.callId(part.toolCallId);
    const lines = [markedToolResultText(part)];
    for (const file of part.files ?? []) {
      const shown = showResultFile(file, context);
      lines.push(shown.type === "text" ? shown.text : wellFormed(`[file ${shown.name} follows]`));
      if (shown.type === "text") continue;
      const whose = wellFormed(`[file ${shown.name}, given by ${part.toolName} in the call ${tool_call_id}]`);
      seen.push({ type: "text", text: whose }, contentOf(shown));
    }
    results.push({ role: "tool", tool_call_id, content: lines.join("\n") });
  }
  return seen.length === 0 ? results : [...results, { role: "user", content: seen }];
}
