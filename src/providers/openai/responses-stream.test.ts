import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { StreamFailure } from "../common/errors.js";
import { createResponsesReader } from "./responses-stream.js";

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

test("paragraphs of a reasoning summary are separated in one part", () => {
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

/** A call's three events; `names` are its names in the first and the last. */
function callEvents(callId: string, args: string, [first, last]: [object, object]) {
  const item = { type: "function_call", call_id: callId, name: "execute" };
  const named = (name: { id?: string; output_index?: number }) => ({
    ...{ item: { ...item, ...(name.id === undefined ? {} : { id: name.id }) } },
    ...(name.output_index === undefined ? {} : { output_index: name.output_index }),
  });
  return [
    { type: "response.output_item.added", ...named(first) },
    { type: "response.output_item.done", ...named(last), item: { ...named(last).item, arguments: args } },
  ];
}

test.each<[string, [object, object], [object, object], string[]]>([
  [
    "by place",
    [{ output_index: 0 }, { output_index: 0 }],
    [{ output_index: 1 }, { output_index: 1 }],
    ["1", "2"],
  ],
  ["by id", [{ id: "a" }, { id: "a" }], [{ id: "b" }, { id: "b" }], ["1", "2"]],
  ["by an id that changes", [{ id: "a" }, { id: "b" }], [{ id: "c" }, { id: "d" }], ["1", "2"]],
  ["not at all", [{}, {}], [{}, {}], ["1", "2"]],
])("two calls with one id both run, distinguished %s", (_how, one, other, words) => {
  const parts = readAll([
    ...callEvents("same", '{"n":"1"}', one),
    ...callEvents("same", '{"n":"2"}', other),
    // A proxy that repeats the last event.
    ...callEvents("same", '{"n":"2"}', other).slice(1),
  ]).filter(({ type }) => type === "tool-call");
  expect(parts).toMatchObject(words.map((n) => ({ toolName: "execute", arguments: { n } })));
  const ids = parts.map((part) => (part.type === "tool-call" ? part.toolCallId : ""));
  expect(ids).toEqual(["same", expect.stringMatching(/^call_[0-9a-f]{32}$/)]);
});
