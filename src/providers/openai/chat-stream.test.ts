/** Streams of compatible servers as seen in practice: missing ids, indexes, usage and finish reasons. */
import type { ChatCompletionChunk } from "openai/resources/chat/completions/completions";
import { describe, expect, test } from "vitest";
import { createChatReader } from "./chat-stream.js";
import type { ModelStreamPart } from "../types.js";

/** Chunks as they come over the wire, where the vendor's types do not hold. */
function readAll(chunks: unknown[]): ModelStreamPart[] {
  const reader = createChatReader();
  return [...chunks.flatMap((chunk) => reader.read(chunk as ChatCompletionChunk)), ...reader.end()];
}

const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const calls = (...tool_calls: object[]) => delta({ tool_calls });
const called = (toolCallId: unknown, command: string) => ({
  type: "tool-call",
  toolCallId,
  toolName: "execute",
  arguments: { command },
});
const whole = (command: string) => ({ name: "execute", arguments: JSON.stringify({ command }) });
const toolCallsOf = (chunks: unknown[]) =>
  readAll([...chunks, delta({}, "stop")]).filter(({ type }) => type === "tool-call");

describe("tool calls", () => {
  test("missing ids are made up, each its own", () => {
    const input = [calls({ index: 0, function: whole("a") }, { index: 1, id: "", function: whole("b") })];
    const found = toolCallsOf(input);
    expect(found).toEqual([
      called(expect.stringMatching(/^call_[0-9a-f]{32}$/), "a"),
      called(expect.anything(), "b"),
    ]);
    expect(new Set(found.map((part) => part.type === "tool-call" && part.toolCallId)).size).toBe(2);
  });

  test("missing indexes are counted, deltas without a name belong to the last call", () => {
    const input = [
      calls({ id: "x", function: { name: "execute", arguments: '{"comm' } }),
      calls({ function: { arguments: 'and":"a"}' } }),
      calls({ id: "y", function: whole("b") }),
    ];
    expect(toolCallsOf(input)).toEqual([called("x", "a"), called("y", "b")]);
  });

  test("parallel calls that all claim the first index are distinguished by their ids", () => {
    const input = [
      calls({ index: 0, id: "x", function: whole("a") }),
      calls({ index: 0, id: "y", function: whole("b") }),
    ];
    expect(toolCallsOf(input)).toEqual([called("x", "a"), called("y", "b")]);
  });

  test.each([0, 1])("two calls with one id both run, the second at index %d", (index) => {
    const input = [
      calls({ index: 0, id: "x", function: whole("a") }),
      calls({ index, id: "x", function: whole("b") }),
    ];
    const ours = expect.stringMatching(/^call_[0-9a-f]{32}$/) as unknown;
    expect(toolCallsOf(input)).toEqual([called("x", "a"), called(ours, "b")]);
  });

  test("deltas of two calls may be interleaved, and names and ids repeated", () => {
    const fragment = (index: number, id: string, text: string) => ({
      index,
      id,
      function: { name: "execute", arguments: text },
    });
    const input = [
      calls(fragment(0, "x", '{"command"')),
      calls(fragment(1, "y", '{"command"')),
      calls(fragment(0, "x", ':"a"}')),
      calls(fragment(1, "y", ':"b"}')),
    ];
    expect(toolCallsOf(input)).toEqual([called("x", "a"), called("y", "b")]);
  });

  test("arguments may come as an object", () => {
    const input = [calls({ index: 0, id: "x", function: { name: "execute", arguments: { command: "a" } } })];
    expect(toolCallsOf(input)).toEqual([called("x", "a")]);
  });
});

test("a server that says `stop` after calling a tool means the tool", () => {
  expect(readAll([calls({ index: 0, id: "x", function: whole("a") }), delta({}, "stop")]).at(-1)).toEqual({
    type: "finish",
    reason: "tool-calls",
  });
});

test("reasoning is read under both of its names and closed before the text", () => {
  const input = [
    delta({ reasoning: "a" }),
    delta({ reasoning_content: "b" }),
    delta({ content: "c" }),
    delta({}, "stop"),
  ];
  expect(readAll(input)).toEqual([
    { type: "reasoning-delta", text: "a" },
    { type: "reasoning-delta", text: "b" },
    { type: "reasoning-end" },
    { type: "text-delta", text: "c" },
    { type: "finish", reason: "stop" },
  ]);
});

test("chunks without choices, deltas or usage are no trouble", () => {
  const input = [{}, { choices: [] }, { choices: [{ index: 0 }] }, delta({ content: null }), { usage: {} }];
  expect(readAll(input)).toEqual([
    {
      type: "usage",
      usage: {
        inputTokens: null,
        outputTokens: null,
        reasoningTokens: 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      },
    },
  ]);
});
