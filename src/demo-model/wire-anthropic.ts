/** Anthropic's Messages format: reads requests, writes the event stream and the plain answer. */
import type { JsonObject } from "../domain/common/json.js";
import type { TokenUsage } from "../domain/chats/message-parts.js";
import { argumentDeltas, type AnswerFinish, type ContentEvent } from "./answer.js";
import { argumentsOf, contentText, type DemoTurn, objectOf, objectsOf, textOf } from "./request.js";
import { anthropicFault } from "./strict-anthropic.js";
import { type AnswerFacts, sentUsage, serverSentEvent, type Wire, type WireWriter } from "./wire.js";

const STOP_REASONS: Record<AnswerFinish, string> = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "content-filter": "refusal",
};

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

export const anthropicWire: Wire = {
  readRequest(body) {
    return {
      model: textOf(body.model),
      isStreaming: body.stream === true,
      wantsUsage: true,
      system: contentText(body.system),
      tools: objectsOf(body.tools).map((tool) => ({
        name: textOf(tool.name),
        inputSchema: objectOf(tool.input_schema),
      })),
      turns: objectsOf(body.messages).flatMap(readTurns),
    };
  },
  refusal(body, _path, asked) {
    const message = anthropicFault(body, asked);
    return message === undefined
      ? undefined
      : { status: 400, body: anthropicErrorBody(400, undefined, message) };
  },
  createWriter: ({ model }, answer) => new AnthropicWriter(model, answer),
  errorBody: anthropicErrorBody,
};

function anthropicErrorBody(status: number, type: string | undefined, message: string): JsonObject {
  return {
    type: "error",
    error: { type: type ?? ERROR_TYPES[status] ?? "api_error", message },
    request_id: "req_demo",
  };
}

/** A user message may carry tool results and words; they are two turns. */
function readTurns(message: JsonObject): DemoTurn[] {
  const blocks = objectsOf(message.content);
  const text = contentText(message.content);
  if (message.role === "assistant") {
    const calls = blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id: textOf(id), name: textOf(name), arguments: argumentsOf(input) }));
    return [{ role: "assistant", text, calls }];
  }
  const results = blocks
    .filter(({ type }) => type === "tool_result")
    .map((block) => ({
      id: textOf(block.tool_use_id),
      text: contentText(block.content),
      isError: block.is_error === true,
    }));
  const turns: DemoTurn[] = results.length > 0 ? [{ role: "results", results }] : [];
  return text === "" ? turns : [...turns, { role: "user", text }];
}

class AnthropicWriter implements WireWriter {
  /** The blocks so far; the last one is under way while `open` names its kind. */
  private readonly content: JsonObject[] = [];
  private readonly deltas: string[] = [];
  private openKind: "text" | "thinking" | undefined;
  private stop: JsonObject = { stop_reason: null, stop_sequence: null };
  private finalUsage: JsonObject;

  constructor(
    private readonly model: string,
    private readonly answer: AnswerFacts,
  ) {
    this.finalUsage = usageFields(answer.usage);
  }

  open(): string {
    const first = usageFields({ ...this.answer.usage, outputTokens: 1, reasoningTokens: 0 });
    return send({ type: "message_start", message: this.message([], first) }) + send({ type: "ping" });
  }

  write(event: ContentEvent): string {
    switch (event.type) {
      case "text":
        return this.writeText("text", event.text);
      case "reasoning":
        return this.writeText("thinking", event.text);
      case "reasoning-end": {
        if (!event.isRedacted) return this.endBlock();
        const data = signatureOf(`${this.content.length}`);
        return this.endBlock() + this.writeWhole({ type: "redacted_thinking", data });
      }
      case "search":
        return this.endBlock() + this.writeSearch(event);
      case "tool-call": {
        const block = { type: "tool_use", id: event.id, name: event.name };
        return this.endBlock() + this.writeCall(block, event.argumentsText);
      }
    }
  }

  close(reason: AnswerFinish, usage: TokenUsage): string {
    const ended = this.endBlock();
    this.stop = { stop_reason: STOP_REASONS[reason], stop_sequence: null };
    this.finalUsage = usageFields(usage);
    return ended + send({ type: "message_delta", delta: this.stop, ...this.sent(this.finalUsage) });
  }

  end(): string {
    return send({ type: "message_stop" });
  }

  private sent(fields: JsonObject): JsonObject {
    const usage = sentUsage(fields, this.answer);
    return usage === null ? {} : { usage };
  }

  fail(errorType: string, message: string): string {
    return send({ type: "error", error: { type: errorType, message } });
  }

  body(): JsonObject {
    return this.message(this.content, this.finalUsage);
  }

  private message(content: JsonObject[], usage: JsonObject): JsonObject {
    const { model, stop } = this;
    return {
      id: `msg_${this.answer.id}`,
      type: "message",
      role: "assistant",
      model,
      content,
      ...stop,
      ...this.sent(usage),
    };
  }

  private index(): number {
    return this.content.length - 1;
  }

  private start(block: JsonObject): string {
    this.content.push(block);
    return send({ type: "content_block_start", index: this.index(), content_block: block });
  }

  private delta(fields: JsonObject): string {
    return send({ type: "content_block_delta", index: this.index(), delta: fields });
  }

  /** Ends the block under way, so that the next one may begin. */
  private endBlock(): string {
    const kind = this.openKind;
    if (kind === undefined) return "";
    this.openKind = undefined;
    const text = this.deltas.splice(0).join("");
    const end = send({ type: "content_block_stop", index: this.index() });
    if (kind === "text") {
      this.content[this.index()] = { ...this.content[this.index()], type: "text", text };
      return end;
    }
    const signature = signatureOf(text);
    this.content[this.index()] = { type: "thinking", thinking: text, signature };
    return this.delta({ type: "signature_delta", signature }) + end;
  }

  private writeText(kind: "text" | "thinking", text: string): string {
    const empty: JsonObject =
      kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "", signature: "" };
    const before = this.openKind === kind ? "" : this.endBlock() + this.start(empty);
    this.openKind = kind;
    this.deltas.push(text);
    const fields: JsonObject =
      kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    return before + this.delta(fields);
  }

  private writeWhole(block: JsonObject): string {
    return this.start(block) + send({ type: "content_block_stop", index: this.index() });
  }

  private writeCall(block: JsonObject, argumentsText: string): string {
    const started = this.start({ ...block, input: {} });
    const deltas = argumentDeltas(argumentsText).map((partial) =>
      this.delta({ type: "input_json_delta", partial_json: partial }),
    );
    this.content[this.index()] = { ...block, input: argumentsOf(argumentsText) };
    return started + deltas.join("") + send({ type: "content_block_stop", index: this.index() });
  }

  /** The search, what it found, and an empty text block that cites it; the words come after. */
  private writeSearch({ query, pages }: Extract<ContentEvent, { type: "search" }>): string {
    const callId = `srvtoolu_${this.answer.id}_${this.content.length}`;
    const call = this.writeCall(
      { type: "server_tool_use", id: callId, name: "web_search" },
      JSON.stringify({ query }),
    );
    const content = pages.map((page) => ({
      type: "web_search_result",
      ...page,
      encrypted_content: signatureOf(page.url),
      page_age: null,
    }));
    const found = this.writeWhole({ type: "web_search_tool_result", tool_use_id: callId, content });
    const citations = pages.map((page) => ({
      type: "web_search_result_location",
      ...page,
      cited_text: page.title,
      encrypted_index: signatureOf(page.title),
    }));
    const started = this.start({ type: "text", text: "", citations });
    this.openKind = "text";
    const cited = citations.map((citation) => this.delta({ type: "citations_delta", citation }));
    return call + found + started + cited.join("");
  }
}

function send(data: JsonObject): string {
  return serverSentEvent(textOf(data.type), data);
}

function usageFields(usage: TokenUsage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    service_tier: "standard",
  };
}

/** Not a signature; only the same for the same text, as a test wants it. */
function signatureOf(text: string): string {
  return Buffer.from(`demo:${text.slice(0, 32)}`).toString("base64");
}
