/** OpenAI's Responses format: reads input items, writes numbered events around output items. */
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
import { openaiResponsesFault } from "./strict-openai.js";
import { openaiErrorBody, openaiRefusal } from "./wire-openai-chat.js";
import { storeAnswer, storedConversation } from "./wire-openai-memory.js";
import { type AnswerFacts, sentUsage, serverSentEvent, type Wire, type WireWriter } from "./wire.js";

export const openaiResponsesWire: Wire = {
  readRequest(body) {
    return {
      model: textOf(body.model),
      isStreaming: body.stream === true,
      wantsUsage: true,
      system: textOf(body.instructions),
      // The vendor's own tools have no name.
      tools: objectsOf(body.tools)
        .filter(({ type }) => type === "function")
        .map(({ name, parameters }) => ({ name: textOf(name), inputSchema: objectOf(parameters) })),
      turns: [
        ...(storedConversation(textOf(body.previous_response_id)) ?? []),
        ...(typeof body.input === "string"
          ? [{ role: "user" as const, text: body.input }]
          : readTurns(objectsOf(body.input))),
      ],
    };
  },
  refusal(body, _path, asked) {
    const id = textOf(body.previous_response_id);
    const stored = id === "" ? [] : storedConversation(id);
    if (stored !== undefined) return openaiRefusal(openaiResponsesFault(body, asked, stored));
    const message = `Previous response with id '${id}' not found.`;
    return openaiRefusal({ message, param: "previous_response_id", code: "previous_response_not_found" });
  },
  createWriter: (request, answer) => new ResponsesWriter(request, answer),
  errorBody: openaiErrorBody,
};

function readTurns(items: JsonObject[]): DemoTurn[] {
  return items.flatMap((item): DemoTurn[] => {
    switch (item.type ?? "message") {
      case "message": {
        const text = contentText(item.content);
        if (item.role === "assistant") return [{ role: "assistant", text, calls: [] }];
        return item.role === "user" ? [{ role: "user", text }] : [];
      }
      case "function_call": {
        const call = {
          id: textOf(item.call_id),
          name: textOf(item.name),
          arguments: argumentsOf(item.arguments),
        };
        return [{ role: "assistant", text: "", calls: [call] }];
      }
      case "function_call_output": {
        const text = contentText(item.output);
        return [
          { role: "results", results: [{ id: textOf(item.call_id), text, isError: isErrorOutput(text) }] },
        ];
      }
      default:
        return [];
    }
  });
}

type OpenItem = { type: "message" | "reasoning"; id: string; deltas: string[]; annotations: JsonObject[] };

class ResponsesWriter implements WireWriter {
  private readonly output: JsonObject[] = [];
  private openItem: OpenItem | undefined;
  private sequence = 0;
  private ending: JsonObject = { status: "in_progress", incomplete_details: null, error: null, usage: null };

  constructor(
    private readonly request: DemoRequest,
    private readonly answer: AnswerFacts,
  ) {}

  open(): string {
    const response = this.body();
    return this.send("response.created", { response }) + this.send("response.in_progress", { response });
  }

  write(event: ContentEvent): string {
    switch (event.type) {
      case "text":
        return this.writeText("message", event.text);
      case "reasoning":
        return this.writeText("reasoning", event.text);
      case "reasoning-end":
        return event.isRedacted ? this.endItem() + this.writeRedacted() : this.endItem();
      case "search":
        return this.endItem() + this.writeSearch(event);
      case "tool-call":
        return this.endItem() + this.writeCall(event);
    }
  }

  close(reason: AnswerFinish, usage: TokenUsage): string {
    const ended = this.endItem();
    this.ending = { ...endingFields(reason), error: null, usage: sentUsage(usageFields(usage), this.answer) };
    const type = this.ending.status === "completed" ? "response.completed" : "response.incomplete";
    if (this.isStored) storeAnswer(this.id, [...this.request.turns, ...readTurns(this.output)]);
    return ended + this.send(type, { response: this.body() });
  }

  end(): string {
    return "";
  }

  /** `error` is the vendor's bare error event; every other type fails the response. */
  fail(errorType: string, message: string): string {
    if (errorType === "error") return this.send("error", { code: "server_error", message, param: null });
    this.ending = {
      status: "failed",
      incomplete_details: null,
      error: { code: errorType, message },
      usage: null,
    };
    return this.send("response.failed", { response: this.body() });
  }

  body(): JsonObject {
    return {
      id: this.id,
      object: "response",
      created_at: Math.floor(this.answer.nowMs / 1000),
      model: this.request.model,
      output: [...this.output],
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [],
      store: this.isStored,
      ...this.ending,
    };
  }

  private get id(): string {
    return `resp_${this.answer.id}`;
  }

  private get isStored(): boolean {
    return this.request.body.store === true;
  }

  private send(type: string, fields: JsonObject): string {
    return serverSentEvent(type, { type, sequence_number: this.sequence++, ...fields });
  }

  private newId(prefix: string): string {
    return `${prefix}_${this.answer.id}_${this.output.length}`;
  }

  /** Where the item under way is. */
  private at(itemId: string): JsonObject {
    return { item_id: itemId, output_index: this.output.length };
  }

  private itemAdded(item: JsonObject): string {
    return this.send("response.output_item.added", { output_index: this.output.length, item });
  }

  private itemDone(item: JsonObject): string {
    const event = this.send("response.output_item.done", { output_index: this.output.length, item });
    this.output.push(item);
    return event;
  }

  private endItem(): string {
    const item = this.openItem;
    this.openItem = undefined;
    if (item === undefined) return "";
    const { id, type, annotations } = item;
    const text = item.deltas.join("");
    if (type === "reasoning") {
      const at = { ...this.at(id), summary_index: 0 };
      const part = { type: "summary_text", text };
      return (
        this.send("response.reasoning_summary_text.done", { ...at, text }) +
        this.send("response.reasoning_summary_part.done", { ...at, part }) +
        this.itemDone({ type, id, summary: [part], encrypted_content: encrypt(text) })
      );
    }
    const at = { ...this.at(id), content_index: 0 };
    const part = { type: "output_text", text, annotations, logprobs: [] };
    return (
      this.send("response.output_text.done", { ...at, text, logprobs: [] }) +
      this.send("response.content_part.done", { ...at, part }) +
      this.itemDone({ type, id, status: "completed", role: "assistant", content: [part] })
    );
  }

  /** The item of this kind under way, begun if need be, and the events that begin it. */
  private startItem(type: OpenItem["type"]): { item: OpenItem; events: string } {
    if (this.openItem?.type === type) return { item: this.openItem, events: "" };
    const before = this.endItem();
    const item: OpenItem = {
      type,
      id: this.newId(type === "message" ? "msg" : "rs"),
      deltas: [],
      annotations: [],
    };
    this.openItem = item;
    const at = this.at(item.id);
    if (type === "reasoning") {
      const part = { type: "summary_text", text: "" };
      const added = this.itemAdded({ type, id: item.id, summary: [], encrypted_content: null });
      const begun = this.send("response.reasoning_summary_part.added", { ...at, summary_index: 0, part });
      return { item, events: before + added + begun };
    }
    const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
    const added = this.itemAdded({
      type,
      id: item.id,
      status: "in_progress",
      role: "assistant",
      content: [],
    });
    return {
      item,
      events: before + added + this.send("response.content_part.added", { ...at, content_index: 0, part }),
    };
  }

  private writeText(type: OpenItem["type"], delta: string): string {
    const { item, events } = this.startItem(type);
    item.deltas.push(delta);
    const at = this.at(item.id);
    return type === "message"
      ? events + this.send("response.output_text.delta", { ...at, content_index: 0, delta, logprobs: [] })
      : events + this.send("response.reasoning_summary_text.delta", { ...at, summary_index: 0, delta });
  }

  private writeRedacted(): string {
    const item = { type: "reasoning", id: this.newId("rs"), summary: [] };
    const added = this.itemAdded({ ...item, encrypted_content: null });
    return added + this.itemDone({ ...item, encrypted_content: encrypt(this.answer.id) });
  }

  private writeSearch({ query, pages }: Extract<ContentEvent, { type: "search" }>): string {
    const searchItem = { type: "web_search_call", id: this.newId("ws"), action: { type: "search", query } };
    const at = this.at(searchItem.id);
    const searched =
      this.itemAdded({ ...searchItem, status: "in_progress" }) +
      this.send("response.web_search_call.in_progress", at) +
      this.send("response.web_search_call.searching", at) +
      this.send("response.web_search_call.completed", at) +
      this.itemDone({ ...searchItem, status: "completed" });
    const { item, events } = this.startItem("message");
    const cited = pages.map((page, index) => {
      const annotation = { type: "url_citation", ...page, start_index: 0, end_index: 0 };
      item.annotations.push(annotation);
      const where = { ...this.at(item.id), content_index: 0, annotation_index: index };
      return this.send("response.output_text.annotation.added", { ...where, annotation });
    });
    return searched + events + cited.join("");
  }

  private writeCall({ id, name, argumentsText }: Extract<ContentEvent, { type: "tool-call" }>): string {
    const item = { type: "function_call", id: this.newId("fc"), call_id: id, name };
    const at = this.at(item.id);
    const deltas = argumentDeltas(argumentsText).map((delta) =>
      this.send("response.function_call_arguments.delta", { ...at, delta }),
    );
    return (
      this.itemAdded({ ...item, arguments: "", status: "in_progress" }) +
      deltas.join("") +
      this.send("response.function_call_arguments.done", { ...at, name, arguments: argumentsText }) +
      this.itemDone({ ...item, arguments: argumentsText, status: "completed" })
    );
  }
}

function endingFields(reason: AnswerFinish): JsonObject {
  if (reason === "length")
    return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  if (reason === "content-filter")
    return { status: "incomplete", incomplete_details: { reason: "content_filter" } };
  return { status: "completed", incomplete_details: null };
}

function usageFields(usage: TokenUsage): JsonObject {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: input + usage.outputTokens,
  };
}

/** Not encryption; only the same for the same text, as a test wants it. */
function encrypt(text: string): string {
  return Buffer.from(`demo:${text.slice(0, 32)}`).toString("base64");
}
