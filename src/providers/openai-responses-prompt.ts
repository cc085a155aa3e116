/** History → the input items of OpenAI's Responses API. Pure. */
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import type { MessagePart, ReasoningPart, ToolCallPart } from "../domain/message-parts.js";
import {
  fileReferenceText,
  markedToolResultText,
  ownMetadata,
  sanitizeToolCallId,
  wellFormed,
} from "./prompt-parts.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "./types.js";

/** The whole request body. Parts that this vendor cannot take are left out; it never throws. */
export function buildResponsesRequest(request: ModelRequest): ResponseCreateParamsStreaming {
  const { model, system, messages, tools, maxOutputTokens, reasoningEffort } = request;
  return {
    model,
    stream: true,
    // The history is ours; the vendor keeps nothing, so reasoning must travel encrypted.
    store: false,
    include: ["reasoning.encrypted_content"],
    input: toInputItems(messages),
    max_output_tokens: maxOutputTokens,
    ...(system.trim() === "" ? {} : { instructions: wellFormed(system) }),
    ...(tools.length === 0 ? {} : { tools: tools.map(toFunctionTool) }),
    ...(reasoningEffort === undefined ? {} : { reasoning: reasoningFields(reasoningEffort) }),
  };
}

/** Input items in the order of the history. */
export function toInputItems(messages: PromptMessage[]): ResponseInputItem[] {
  return messages.flatMap((message) => {
    if (message.role === "assistant") return dropTrailingReasoning(message.parts.flatMap(assistantItems));
    if (message.role === "tool") return message.parts.flatMap(resultItems);
    const text = message.parts.flatMap(userText).join("\n\n");
    return text === "" ? [] : [{ role: "user", content: text }];
  });
}

function reasoningFields(effort: NonNullable<ModelRequest["reasoningEffort"]>) {
  return effort === "none" ? { effort } : { effort, summary: "auto" as const };
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

function userText(part: MessagePart): string[] {
  if (part.type === "file-reference") return [fileReferenceText(part)];
  return part.type === "text" && part.text.trim() !== "" ? [wellFormed(part.text)] : [];
}

function resultItems(part: MessagePart): ResponseInputItem[] {
  if (part.type !== "tool-result" || part.isProviderExecuted) return [];
  const call_id = sanitizeToolCallId(part.toolCallId);
  return [{ type: "function_call_output", call_id, output: markedToolResultText(part) }];
}

function assistantItems(part: MessagePart): ResponseInputItem[] {
  switch (part.type) {
    case "text":
    case "file-reference":
      return userText(part).map((content) => ({ role: "assistant", content }));
    case "reasoning":
      return reasoningItems(part);
    case "tool-call":
      return part.isProviderExecuted ? searchItems(part) : [functionCallItem(part)];
    case "tool-result":
    case "source":
      return [];
  }
}

/** Reasoning goes back only with the encrypted words that this vendor gave for it. */
function reasoningItems(part: ReasoningPart): ResponseInputItem[] {
  const { itemId, encryptedContent } = ownMetadata(part.providerMetadata, "openai");
  if (typeof itemId !== "string" || typeof encryptedContent !== "string") return [];
  const summary =
    part.text.trim() === "" ? [] : [{ type: "summary_text" as const, text: wellFormed(part.text) }];
  return [{ type: "reasoning", id: itemId, summary, encrypted_content: encryptedContent }];
}

function functionCallItem(part: ToolCallPart): ResponseInputItem {
  return {
    type: "function_call",
    call_id: sanitizeToolCallId(part.toolCallId),
    name: part.toolName,
    arguments: wellFormed(JSON.stringify(part.arguments)),
  };
}

/** One of this vendor's searches; the item is both the call and its result. */
function searchItems(part: ToolCallPart): ResponseInputItem[] {
  const { itemId } = ownMetadata(part.providerMetadata, "openai");
  if (typeof itemId !== "string") return [];
  const query = typeof part.arguments.query === "string" ? part.arguments.query : "";
  return [{ type: "web_search_call", id: itemId, status: "completed", action: { type: "search", query } }];
}

/** The vendor refuses reasoning "without its required following item", which an interrupted step leaves behind. */
function dropTrailingReasoning(items: ResponseInputItem[]): ResponseInputItem[] {
  const lastKept = items.findLastIndex((item) => !("type" in item) || item.type !== "reasoning");
  return items.slice(0, lastKept + 1);
}
