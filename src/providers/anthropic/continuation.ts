/**
 * Goes on with answers that the vendor pauses: after about ten searches of its own it stops with `pause_turn` and
 * wants the answer so far back, as it is, as the last message. To the reader it stays one stream.
 */
import type {
  ContentBlock,
  ContentBlockParam,
  RawContentBlockDelta,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages/messages";
import type { AnthropicMessage, AnthropicRequest } from "./prompt.js";
import { parseToolArguments } from "../common/prompt-parts.js";

/** Pauses of one answer that are gone on from; at ten searches each, whoever needs more is lost in the web. */
export const CONTINUATION_LIMIT = 5;

type Send = (request: AnthropicRequest) => Promise<AsyncIterable<RawMessageStreamEvent>>;

/**
 * Sends the request, and again while the answer pauses; the events of all responses follow each other, only the last
 * with its `message_stop`. Rejects when the first response does; a later refusal shows while iterating. After
 * `CONTINUATION_LIMIT` pauses, or one without any content, the paused answer ends as it is.
 */
export async function openAnswer(
  request: AnthropicRequest,
  send: Send,
): Promise<AsyncIterable<RawMessageStreamEvent>> {
  const first = await send(request);
  // Only tools that the vendor runs itself make it pause.
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

/** The vendor wants roles in turn; a history that ends with the model's own message is gone on with in place. */
function withAnswer(messages: AnthropicMessage[], content: ContentBlockParam[]): AnthropicMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [...messages, { role: "assistant", content: [...content] }];
  return [...messages.slice(0, -1), { role: "assistant", content: [...last.content, ...content] }];
}

/** One response, gathered into the blocks that go back. */
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

  /** In order, without blocks of blank text, which the vendor sends but does not take. */
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
        // The vendor takes back what it sends; its types for both directions only differ in what may be absent.
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
