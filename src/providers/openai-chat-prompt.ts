/** History → Chat Completions messages. Pure. */
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions/completions";
import type { MessagePart } from "../domain/message-parts.js";
import { fileReferenceText, markedToolResultText, sanitizeToolCallId, wellFormed } from "./prompt-parts.js";
import type { ModelRequest, PromptMessage, ToolDefinition } from "./types.js";

/**
 * The whole request body; it never throws. `isCompatible`: a server of another maker, which knows the older
 * `max_tokens`; OpenAI's own newer models refuse that name. Reasoning cannot be sent back in this format.
 */
export function buildChatRequest(
  request: ModelRequest,
  isCompatible: boolean,
): ChatCompletionCreateParamsStreaming {
  const { model, system, messages, tools, maxOutputTokens, reasoningEffort } = request;
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...systemMessages(system), ...toChatMessages(messages)],
    ...(isCompatible ? { max_tokens: maxOutputTokens } : { max_completion_tokens: maxOutputTokens }),
    ...(tools.length === 0 ? {} : { tools: tools.map(toChatTool) }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
  };
}

/** Messages in order; neighbouring user messages are merged, as many chat templates demand. */
export function toChatMessages(messages: PromptMessage[]): ChatCompletionMessageParam[] {
  const result: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    for (const next of toMessages(message)) {
      const last = result.at(-1);
      const before = last?.role === "user" ? last.content : undefined;
      const after = next.role === "user" ? next.content : undefined;
      if (last?.role === "user" && typeof before === "string" && typeof after === "string") {
        last.content = `${before}\n\n${after}`;
      } else result.push(next);
    }
  }
  return result;
}

function systemMessages(system: string): ChatCompletionMessageParam[] {
  return system.trim() === "" ? [] : [{ role: "system", content: wellFormed(system) }];
}

function toChatTool({ name, description, inputSchema }: ToolDefinition): ChatCompletionFunctionTool {
  return {
    type: "function",
    function: { name, description, parameters: { ...inputSchema, type: "object" } },
  };
}

function toMessages(message: PromptMessage): ChatCompletionMessageParam[] {
  if (message.role === "tool") return message.parts.flatMap(resultMessages);
  const content = message.parts.flatMap(textOf).join("\n\n");
  if (message.role === "user") return content === "" ? [] : [{ role: "user", content }];
  const tool_calls = message.parts.flatMap(toolCalls);
  if (tool_calls.length > 0)
    return [{ role: "assistant", content: content === "" ? null : content, tool_calls }];
  return content === "" ? [] : [{ role: "assistant", content }];
}

function textOf(part: MessagePart): string[] {
  if (part.type === "file-reference") return [fileReferenceText(part)];
  return part.type === "text" && part.text.trim() !== "" ? [wellFormed(part.text)] : [];
}

function toolCalls(part: MessagePart): ChatCompletionMessageFunctionToolCall[] {
  if (part.type !== "tool-call" || part.isProviderExecuted) return [];
  const args = wellFormed(JSON.stringify(part.arguments));
  return [
    {
      id: sanitizeToolCallId(part.toolCallId),
      type: "function",
      function: { name: part.toolName, arguments: args },
    },
  ];
}

function resultMessages(part: MessagePart): ChatCompletionMessageParam[] {
  if (part.type !== "tool-result" || part.isProviderExecuted) return [];
  return [
    { role: "tool", tool_call_id: sanitizeToolCallId(part.toolCallId), content: markedToolResultText(part) },
  ];
}
