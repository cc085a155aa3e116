/** Builder of Claude's request: history with alternating roles, tools, cache breakpoints, configured options. Pure. */
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  TextBlockParam,
  Tool,
  ToolChoice,
  ToolUnion,
} from "@anthropic-ai/sdk/resources/messages/messages";
import { nativeFileSupport } from "../../domain/models/model-capabilities.js";
import { type BlockRules, DEFAULT_BLOCK_RULES, toBlocks } from "./blocks.js";
import type { AnthropicOptions } from "./options.js";
import {
  anthropicSampling,
  anthropicThinking,
  type SamplingFields,
  SMALLEST_MODEL_OUTPUT_TOKENS,
} from "./thinking.js";
import { wellFormed } from "../common/prompt-parts.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "../types.js";

/** The vendor caches the prompt up to each breakpoint and allows four: tools, system, and the last two messages. */
const CACHE_MARK = { type: "ephemeral" } as const;
const MARKED_MESSAGES = 2;
/** The first message must be the user's; a history cut by compaction may begin with the assistant. */
const CONTINUATION_TEXT = "(The conversation continues.)";

export type AnthropicMessage = { role: "user" | "assistant"; content: ContentBlockParam[] };
export type AnthropicRequest = MessageCreateParamsStreaming &
  SamplingFields & { messages: AnthropicMessage[] };

/**
 * The whole request body. Parts that this vendor does not accept are omitted; never throws. `takesSearches` is false
 * for an API without web search.
 */
export function buildAnthropicRequest(
  request: ModelRequest,
  options: AnthropicOptions = {},
  takesSearches = true,
): AnthropicRequest {
  const isMarked = options.promptCaching !== "off";
  const takesReasoning = options.sendReasoning !== false;
  const messages = toAnthropicMessages(request.messages, {
    files: request.files,
    takesSearches,
    takesReasoning,
    ...nativeFileSupport(request.model),
  });
  const system = systemBlocks(request.system, isMarked);
  const tools = toolsOf(request, options, isMarked);
  const thinking = anthropicThinking(takesReasoning ? request : withoutReasoning(request), options);
  return {
    model: request.model,
    max_tokens: request.maxOutputTokens ?? SMALLEST_MODEL_OUTPUT_TOKENS,
    stream: true,
    messages: isMarked ? markForCache(messages) : messages,
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools, ...toolChoice(request, options) }),
    ...thinking,
    ...anthropicSampling(request.model, options, thinking),
    ...(options.stopSequences === undefined ? {} : { stop_sequences: options.stopSequences }),
    ...(options.serviceTier === undefined ? {} : { service_tier: options.serviceTier }),
  };
}

/** Messages with strictly alternating roles: neighbours of one role are merged, empty ones omitted. */
export function toAnthropicMessages(
  messages: PromptMessage[],
  rules: BlockRules = DEFAULT_BLOCK_RULES,
): AnthropicMessage[] {
  const merged: AnthropicMessage[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toBlocks(message, rules);
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

/** With a thinking budget, a turn whose earlier thinking is not sent must not request thinking again. */
function withoutReasoning(request: ModelRequest): ModelRequest {
  const messages = request.messages.map((message) => ({
    ...message,
    parts: message.parts.filter(({ type }) => type !== "reasoning"),
  }));
  return { ...request, messages };
}

function systemBlocks(system: string, isMarked: boolean): TextBlockParam[] {
  if (system.trim() === "") return [];
  return [{ type: "text", text: wellFormed(system), ...(isMarked ? { cache_control: CACHE_MARK } : {}) }];
}

/** Our own tools come first, so that their cached prefix is the same with and without the search. */
function toolsOf({ tools }: ModelRequest, { webSearch }: AnthropicOptions, isMarked: boolean): ToolUnion[] {
  const own = tools.map((tool, index) => {
    const isLast = index === tools.length - 1;
    return { ...toAnthropicTool(tool), ...(isMarked && isLast ? { cache_control: CACHE_MARK } : {}) };
  });
  if (webSearch === undefined) return own;
  const { allowedDomains, blockedDomains, maxUses } = webSearch;
  return [
    ...own,
    {
      // Later versions filter results with code execution, on the vendor's newest models only.
      type: "web_search_20250305",
      name: "web_search",
      ...(allowedDomains === undefined ? {} : { allowed_domains: allowedDomains }),
      ...(blockedDomains === undefined ? {} : { blocked_domains: blockedDomains }),
      ...(maxUses === undefined ? {} : { max_uses: maxUses }),
    },
  ];
}

function toAnthropicTool({ name, description, inputSchema }: ToolDefinition): Tool {
  return { name, description, input_schema: { ...inputSchema, type: "object" } };
}

function toolChoice(request: ModelRequest, options: AnthropicOptions): { tool_choice?: ToolChoice } {
  if (request.toolChoice === "none") return { tool_choice: { type: "none" } };
  if (options.disableParallelToolUse !== true) return {};
  return { tool_choice: { type: "auto", disable_parallel_tool_use: true } };
}

/** Sets a cache breakpoint on the last block, except thinking, of each of the last messages. */
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
