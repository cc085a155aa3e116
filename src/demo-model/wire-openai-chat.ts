/** OpenAI's Chat Completions format, with the `reasoning_content` of compatible servers. */
import type { JsonObject } from "../domain/common/json.js";
import type { TokenUsage } from "../domain/chats/message-parts.js";
import { argumentDeltas, type AnswerFinish, type ContentEvent } from "./answer.js";
import {
  argumentsOf,
  contentText,
  type DemoRequest,
  type DemoTurn,
  isErrorOutput,
  objectOf,
  objectsOf,
  textOf,
} from "./request.js";
import { openaiChatFault, type OpenaiFault } from "./strict-openai.js";
import { type AnswerFacts, sentUsage, serverSentEvent, type Wire, type WireWriter } from "./wire.js";

const FINISH_REASONS: Record<AnswerFinish, string> = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
};

const isSystem = ({ role }: JsonObject) => role === "system" || role === "developer";

export const openaiChatWire: Wire = {
  readRequest(body) {
    const messages = objectsOf(body.messages);
    return {
      model: textOf(body.model),
      isStreaming: body.stream === true,
      wantsUsage: objectOf(body.stream_options).include_usage === true,
      system: messages
        .filter(isSystem)
        .map(({ content }) => contentText(content))
        .join("\n\n"),
      tools: objectsOf(body.tools).map(({ function: definition }) => ({
        name: textOf(objectOf(definition).name),
        inputSchema: objectOf(objectOf(definition).parameters),
      })),
      turns: messages.filter((message) => !isSystem(message)).map(readTurn),
    };
  },
  refusal: (body, _path, asked) => openaiRefusal(openaiChatFault(body, asked)),
  createWriter: (request, answer) => new ChatWriter(request, answer),
  errorBody: openaiErrorBody,
};

/** OpenAI's error object; shared with the Responses format. */
export function openaiErrorBody(status: number, type: string | undefined, message: string): JsonObject {
  const code = status === 401 ? "invalid_api_key" : status === 429 ? "rate_limit_exceeded" : null;
  const fallback = status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type: type ?? fallback, param: null, code: type ?? code } };
}

/** The answer to a request with a fault; shared with the Responses format. */
export function openaiRefusal(fault: OpenaiFault | undefined) {
  if (fault === undefined) return undefined;
  return { status: 400, body: { error: { ...fault, type: "invalid_request_error" } } };
}

function readTurn(message: JsonObject): DemoTurn {
  const text = contentText(message.content);
  if (message.role === "tool") {
    return {
      role: "results",
      results: [{ id: textOf(message.tool_call_id), text, isError: isErrorOutput(text) }],
    };
  }
  if (message.role !== "assistant") return { role: "user", text };
  const calls = objectsOf(message.tool_calls).map((call) => {
    const { name, arguments: given } = objectOf(call.function);
    return { id: textOf(call.id), name: textOf(name), arguments: argumentsOf(given) };
  });
  return { role: "assistant", text, calls };
}

class ChatWriter implements WireWriter {
  private readonly text: string[] = [];
  private readonly reasoning: string[] = [];
  private readonly calls: JsonObject[] = [];
  private readonly annotations: JsonObject[] = [];
  private finish: string | null = null;
  private usage: JsonObject | null = null;
  private readonly common: JsonObject;

  constructor(
    private readonly request: DemoRequest,
    private readonly answer: AnswerFacts,
  ) {
    const { id, nowMs } = answer;
    this.common = { id: `chatcmpl-${id}`, created: Math.floor(nowMs / 1000), model: request.model };
  }

  open(): string {
    return this.delta({ role: "assistant", content: "", refusal: null });
  }

  write(event: ContentEvent): string {
    switch (event.type) {
      case "text":
        this.text.push(event.text);
        return this.delta({ content: event.text });
      case "reasoning":
        this.reasoning.push(event.text);
        return this.delta({ reasoning_content: event.text });
      case "reasoning-end":
        return "";
      case "search":
        return this.writeSearch(event);
      case "tool-call":
        return this.writeCall(event);
    }
  }

  close(reason: AnswerFinish, usage: TokenUsage): string {
    this.finish = FINISH_REASONS[reason];
    this.usage = sentUsage(usageFields(usage), this.answer);
    const last =
      this.request.wantsUsage && this.usage !== null ? this.chunk({ choices: [], usage: this.usage }) : "";
    return this.delta({}, this.finish) + last;
  }

  end(): string {
    return "data: [DONE]\n\n";
  }

  fail(errorType: string, message: string): string {
    return serverSentEvent(undefined, openaiErrorBody(500, errorType, message));
  }

  body(): JsonObject {
    const message = {
      role: "assistant",
      content: this.text.length > 0 ? this.text.join("") : null,
      refusal: null,
      ...(this.reasoning.length > 0 ? { reasoning_content: this.reasoning.join("") } : {}),
      ...(this.calls.length > 0 ? { tool_calls: this.calls } : {}),
      annotations: this.annotations,
    };
    const choices = [{ index: 0, finish_reason: this.finish, logprobs: null, message }];
    return { ...this.common, object: "chat.completion", choices, usage: this.usage };
  }

  private chunk(fields: JsonObject): string {
    return serverSentEvent(undefined, { ...this.common, object: "chat.completion.chunk", ...fields });
  }

  private delta(fields: JsonObject, reason: string | null = null): string {
    return this.chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: reason }] });
  }

  private writeCall({ id, name, argumentsText }: Extract<ContentEvent, { type: "tool-call" }>): string {
    const index = this.calls.length;
    this.calls.push({ id, type: "function", function: { name, arguments: argumentsText } });
    const first: JsonObject = { index, id, type: "function", function: { name, arguments: "" } };
    const rest = argumentDeltas(argumentsText).map((text) => ({ index, function: { arguments: text } }));
    return [first, ...rest].map((call) => this.delta({ tool_calls: [call] })).join("");
  }

  private writeSearch({ pages }: Extract<ContentEvent, { type: "search" }>): string {
    const cited = pages.map((page) => ({
      type: "url_citation",
      url_citation: { ...page, start_index: 0, end_index: 0 },
    }));
    this.annotations.push(...cited);
    return this.delta({ annotations: cited });
  }
}

function usageFields(usage: TokenUsage): JsonObject {
  const prompt = usage.inputTokens + usage.cacheReadTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0 },
  };
}
