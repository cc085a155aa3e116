/**
 * Continuation of paused answers: after about ten searches of its own the vendor stops with `pause_turn`, and continues
 * when the answer so far is sent back unchanged as the last message. To the reader it is one stream.
 */
import type {
  ContentBlock,
  ContentBlockParam,
  RawContentBlockDelta,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { AnthropicMessage, AnthropicRequest } from "./prompt.js";
import { parseToolArguments } from "../common/prompt-parts.js";

/** Pauses of one answer that are continued; at ten searches each, more would hardly be useful. */
export const CONTINUATION_LIMIT = 5;

type Send = (request: AnthropicRequest) => Promise<AsyncIterable<RawMessageStreamEvent>>;

/**
 * Sends the request, and again while the answer pauses; yields the events of all responses in sequence, only the last
 * with its `message_stop`. Rejects when the first request fails; a later failure is thrown while iterating. After
 * `CONTINUATION_LIMIT` pauses, or one without any content, the paused answer ends as it is.
 */
export async function openAnswer(
  request: AnthropicRequest,
  send: Send,
): Promise<AsyncIterable<RawMessageStreamEvent>> {
  const first = await send(request);
  // Only tools that the vendor runs itself cause pauses.
  const mayPause = request.tools?.some((tool) => "type" in tool && tool.type !== "custom") ?? false;
  return mayPause ? continueAnswer(request, first, send) : first;
}

async function* continueAnswer(
  request: AnthropicRequest,
  first: AsyncIterable<RawMessageStreamEvent>,
  send: Send,
): AsyncGenerator<RawMessageStreamEvent, void, undefined> {
  let source = first;
  const content: ContentBlockParam[] = [];
  for (let pauses = 0; ; pauses += 1) {
    const answer = new AnswerSoFar();
    let stop: RawMessageStreamEvent | undefined;
    for await (const event of source) {
      answer.add(event);
      if (event.type === "message_stop" && answer.isPaused && pauses < CONTINUATION_LIMIT) {
        stop = event;
        break;
      }
      yield event;
    }
    content.push(...answer.blocks());
    if (!answer.isPaused || pauses === CONTINUATION_LIMIT) return;
    if (content.length === 0) {
      if (stop !== undefined) yield stop;
      return;
    }
    source = await send({ ...request, messages: withAnswer(request.messages, content) });
  }
}

/** Appends the answer so far; roles must alternate, so a history that ends with the model's message is extended. */
function withAnswer(messages: AnthropicMessage[], content: ContentBlockParam[]): AnthropicMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [...messages, { role: "assistant", content: [...content] }];
  return [...messages.slice(0, -1), { role: "assistant", content: [...last.content, ...content] }];
}

/** Accumulator of one response's content blocks. */
class AnswerSoFar {
  readonly #blocks = new Map<number, { block: ContentBlock; input: string[] }>();
  isPaused = false;

  add(event: RawMessageStreamEvent): void {
    if (event.type === "content_block_start")
      this.#blocks.set(event.index, { block: { ...event.content_block }, input: [] });
    else if (event.type === "content_block_delta") this.#addDelta(event.index, event.delta);
    else if (event.type === "message_delta" && event.delta.stop_reason)
      this.isPaused = event.delta.stop_reason === "pause_turn";
  }

  /** In order, without blank text blocks, which the vendor sends but does not accept. */
  blocks(): ContentBlockParam[] {
    return [...this.#blocks]
      .sort(([one], [other]) => one - other)
      .flatMap(([, { block, input }]): ContentBlockParam[] => {
        if (block.type === "text") {
          const { citations, ...text } = block;
          if (text.text.trim() === "") return [];
          return [citations && citations.length > 0 ? { ...text, citations } : text];
        }
        const isCall = block.type === "tool_use" || block.type === "server_tool_use";
        const whole = isCall && input.length > 0 ? { input: parseToolArguments(input.join("")) } : {};
        // The vendor accepts what it sends; its types for both directions differ only in optional fields.
        return [{ ...block, ...whole } as ContentBlockParam];
      });
  }

  #addDelta(index: number, delta: RawContentBlockDelta): void {
    const open = this.#blocks.get(index);
    const block = open?.block;
    if (open === undefined || block === undefined) return;
    if (delta.type === "input_json_delta") open.input.push(delta.partial_json);
    else if (block.type === "text" && delta.type === "text_delta") block.text += delta.text;
    else if (block.type === "text" && delta.type === "citations_delta")
      block.citations = [...(block.citations ?? []), delta.citation];
    else if (block.type === "thinking" && delta.type === "thinking_delta") block.thinking += delta.thinking;
    else if (block.type === "thinking" && delta.type === "signature_delta")
      block.signature += delta.signature;
  }
}
