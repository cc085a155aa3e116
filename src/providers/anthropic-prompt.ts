/** History → Anthropic's request: alternating roles, thinking with its signatures, cache marks. Pure. */
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  TextBlockParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { MessagePart, ReasoningPart, ToolCallPart, ToolResultPart } from "../domain/message-parts.js";
import { anthropicThinking } from "./anthropic-thinking.js";
import {
  fileReferenceText,
  ownMetadata,
  sanitizeToolCallId,
  toolResultText,
  wellFormed,
} from "./prompt-parts.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "./types.js";

/** The vendor caches the prompt up to each mark; four are allowed, we use three. */
const CACHE_MARK = { type: "ephemeral" } as const;
const MARKED_MESSAGES = 2;
/** The first message must be the user's; a history cut by compaction may begin with the assistant. */
const CONTINUATION_TEXT = "(The conversation continues.)";

type AnthropicMessage = { role: "user" | "assistant"; content: ContentBlockParam[] };

/** The whole request body. Parts that this vendor cannot take are left out; it never throws. */
export function buildAnthropicRequest(request: ModelRequest): MessageCreateParamsStreaming {
  const system: TextBlockParam[] = systemBlocks(request.system);
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens,
    stream: true,
    messages: markForCache(toAnthropicMessages(request.messages)),
    ...(system.length === 0 ? {} : { system }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toAnthropicTool) }),
    ...anthropicThinking(request),
  };
}

/** Messages in strict alternation: neighbours of one role are merged, empty ones left out. */
export function toAnthropicMessages(messages: PromptMessage[]): AnthropicMessage[] {
  const merged: AnthropicMessage[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message);
    if (content.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content });
  }
  if (merged[0]?.role === "assistant") {
    merged.unshift({ role: "user", content: [{ type: "text", text: CONTINUATION_TEXT }] });
  }
  return merged;
}

function systemBlocks(system: string): TextBlockParam[] {
  if (system.trim() === "") return [];
  return [{ type: "text", text: wellFormed(system), cache_control: CACHE_MARK }];
}

function toAnthropicTool({ name, description, inputSchema }: ToolDefinition): Tool {
  return { name, description, input_schema: { ...inputSchema, type: "object" } };
}

function toBlocks(message: PromptMessage): ContentBlockParam[] {
  const providerCalls = pairedProviderCalls(message.parts);
  return message.parts.flatMap((part): ContentBlockParam[] => {
    switch (part.type) {
      case "text":
        return part.text.trim() === "" ? [] : [{ type: "text", text: wellFormed(part.text) }];
      case "file-reference":
        return [{ type: "text", text: fileReferenceText(part) }];
      case "reasoning":
        return message.role === "assistant" ? thinkingBlocks(part) : [];
      case "tool-call":
        if (message.role !== "assistant") return [];
        return part.isProviderExecuted ? providerCallBlocks(part, providerCalls) : [toolUseBlock(part)];
      case "tool-result":
        if (part.isProviderExecuted) return providerResultBlocks(part, providerCalls);
        return message.role === "assistant" ? [] : [toolResultBlock(part)];
      case "source":
        return [];
    }
  });
}

/** Thinking goes back only with the signature that this vendor gave it. */
function thinkingBlocks(part: ReasoningPart): ContentBlockParam[] {
  const { signature, redactedData } = ownMetadata(part.providerMetadata, "anthropic");
  if (typeof redactedData === "string") return [{ type: "redacted_thinking", data: redactedData }];
  if (typeof signature !== "string" || signature === "") return [];
  return [{ type: "thinking", thinking: part.text, signature }];
}

function toolUseBlock(part: ToolCallPart): ContentBlockParam {
  return {
    type: "tool_use",
    id: sanitizeToolCallId(part.toolCallId),
    name: part.toolName,
    input: part.arguments,
  };
}

function toolResultBlock(part: ToolResultPart): ContentBlockParam {
  return {
    type: "tool_result",
    tool_use_id: sanitizeToolCallId(part.toolCallId),
    content: toolResultText(part.result),
    ...(part.isError ? { is_error: true } : {}),
  };
}

/** Searches of this vendor whose call and result are both here; half a pair would be refused. */
function pairedProviderCalls(parts: MessagePart[]): Set<string> {
  const called = new Set<string>();
  const paired = new Set<string>();
  for (const part of parts) {
    if (part.type === "tool-call" && part.isProviderExecuted) called.add(part.toolCallId);
    if (part.type !== "tool-result" || !part.isProviderExecuted) continue;
    const { content } = ownMetadata(part.providerMetadata, "anthropic");
    if (content !== undefined && called.has(part.toolCallId)) paired.add(part.toolCallId);
  }
  return paired;
}

function providerCallBlocks(part: ToolCallPart, paired: Set<string>): ContentBlockParam[] {
  if (!paired.has(part.toolCallId) || part.toolName !== "web_search") return [];
  return [{ type: "server_tool_use", id: part.toolCallId, name: "web_search", input: part.arguments }];
}

function providerResultBlocks(part: ToolResultPart, paired: Set<string>): ContentBlockParam[] {
  if (!paired.has(part.toolCallId) || part.toolName !== "web_search") return [];
  const { content } = ownMetadata(part.providerMetadata, "anthropic");
  // The vendor's own words, kept unread so that they can go back exactly as they came.
  const block = { type: "web_search_tool_result", tool_use_id: part.toolCallId, content } as unknown;
  return [block as ContentBlockParam];
}

/** Marks the last block that may carry a mark (thinking may not) of each of the last messages. */
function markForCache(messages: AnthropicMessage[]): AnthropicMessage[] {
  return messages.map((message, index) => {
    if (index < messages.length - MARKED_MESSAGES) return message;
    const target = message.content.findLastIndex(
      ({ type }) => type !== "thinking" && type !== "redacted_thinking",
    );
    const content = message.content.map((block, position) =>
      position === target ? ({ ...block, cache_control: CACHE_MARK } as ContentBlockParam) : block,
    );
    return { ...message, content };
  });
}
