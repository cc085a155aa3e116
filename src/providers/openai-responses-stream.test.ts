import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { StreamFailure } from "./errors.js";
import { createResponsesReader } from "./openai-responses-stream.js";

/** Events as they come over the wire, cut down to the fields that matter. */
function readAll(events: object[]) {
  const reader = createResponsesReader();
  return events.flatMap((event) => reader.read(event as ResponseStreamEvent));
}

const reasoning = (summary: string[], encrypted_content?: string) => ({
  type: "response.output_item.done",
  item: {
    type: "reasoning",
    id: "rs",
    summary: summary.map((text) => ({ type: "summary_text", text })),
    encrypted_content,
  },
});

test("paragraphs of a reasoning summary are kept apart in one part", () => {
  const events = [
    { type: "response.reasoning_summary_part.added", item_id: "rs", summary_index: 0 },
    { type: "response.reasoning_summary_text.delta", item_id: "rs", delta: "one" },
    { type: "response.reasoning_summary_part.added", item_id: "rs", summary_index: 1 },
    { type: "response.reasoning_summary_text.delta", item_id: "rs", delta: "two" },
    reasoning(["one", "two"], "enc"),
  ];
  expect(readAll(events)).toEqual([
    { type: "reasoning-delta", text: "one" },
    { type: "reasoning-delta", text: "\n\n" },
    { type: "reasoning-delta", text: "two" },
    { type: "reasoning-end", providerMetadata: { openai: { itemId: "rs", encryptedContent: "enc" } } },
  ]);
});

test("a summary that did not stream is read when it is done", () => {
  expect(readAll([reasoning(["one", "two"])])).toEqual([
    { type: "reasoning-delta", text: "one\n\ntwo" },
    { type: "reasoning-end" },
  ]);
});

test("usage without its details, as compatible servers send it, is counted", () => {
  const response = { usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } };
  expect(readAll([{ type: "response.completed", response }])).toEqual([
    {
      type: "usage",
      usage: { inputTokens: 3, outputTokens: 4, reasoningTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
    { type: "finish", reason: "stop" },
  ]);
});

test.each([
  [
    { type: "response.failed", response: { error: { code: "rate_limit_exceeded", message: "slow" } } },
    "rate_limit_exceeded",
  ],
  [{ type: "response.failed", response: { error: null } }, "server_error"],
  [{ type: "error", code: null, message: "oh" }, "server_error"],
])("%j is a failure with its code", (event, code) => {
  expect(() => readAll([event])).toThrow(
    expect.objectContaining({ name: "StreamFailure", code }) as StreamFailure,
  );
});

test("events that are new to us are ignored", () => {
  expect(
    readAll([{ type: "response.tomorrow" }, { type: "response.output_item.done", item: { type: "new" } }]),
  ).toEqual([]);
});
