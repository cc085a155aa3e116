/** Malformed events in OpenAI's formats: the reader reports a failed answer at worst. */
import type { ChatCompletionChunk } from "openai/resources/chat/completions/completions";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import fc from "fast-check";
import { expect, test } from "vitest";
import { StreamFailure } from "../common/errors.js";
import type { EventReader } from "../common/model-call.js";
import { createChatReader } from "./chat-stream.js";
import { createResponsesReader } from "./responses-stream.js";

const odd = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.constant(null),
  fc.constant({}),
  fc.constant([]),
  fc.boolean(),
);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(fc.oneof(value, odd), { nil: undefined });
const record = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maybe(value)])));

const content = fc.array(
  maybe(record({ type: fc.constantFrom("output_text", "refusal"), text: fc.string() })),
);
const item = record({
  type: fc.constantFrom("message", "reasoning", "function_call", "web_search_call", "compaction"),
  id: fc.string(),
  call_id: fc.string(),
  name: fc.string(),
  arguments: fc.string(),
  summary: content,
  content,
  action: record({ type: fc.constantFrom("search", "open_page", "find_in_page"), sources: content }),
});
const event = record({
  type: fc.constantFrom(
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_part.added",
    "response.output_text.annotation.added",
    "response.function_call_arguments.delta",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "error",
  ),
  item,
  item_id: fc.string(),
  output_index: fc.nat(3),
  delta: fc.string(),
  annotation: item,
  response: record({ id: fc.string(), output: fc.array(item), usage: record({ input_tokens: fc.nat() }) }),
});

const fragment = record({
  index: fc.nat(2),
  id: fc.string(),
  function: record({ name: fc.string(), arguments: fc.string() }),
});
const delta = record({
  content: fc.oneof(fc.string(), content),
  reasoning_content: fc.string(),
  reasoning_details: content,
  tool_calls: fc.array(maybe(fragment)),
  annotations: fc.array(maybe(record({ url_citation: record({ url: fc.string() }) }))),
});
const choice = record({ delta, finish_reason: fc.constantFrom("stop", "length", "tool_calls", "error") });
const chunk = record({
  choices: fc.array(maybe(choice)),
  usage: record({ prompt_tokens: fc.nat(), prompt_tokens_details: record({ cached_tokens: fc.nat() }) }),
});

function read<Event>(reader: EventReader<Event>, events: unknown[]): void {
  try {
    for (const input of events) reader.read(input as Event);
    reader.end();
  } catch (error) {
    expect(error).toBeInstanceOf(StreamFailure);
  }
}

test("odd events of the Responses API", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(event, odd)), (events) =>
      read<ResponseStreamEvent>(createResponsesReader({ kind: "openai_compatible", isStored: true }), events),
    ),
    { numRuns: 1_000 },
  );
});

test("odd chunks of Chat Completions", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(chunk, odd)), (chunks) =>
      read<ChatCompletionChunk>(createChatReader("here"), chunks),
    ),
    { numRuns: 1_000 },
  );
});
