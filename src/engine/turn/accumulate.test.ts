import { describe, expect, test } from "vitest";
import type { LiveDelta, MessageDelta } from "../../domain/chats/chat-events.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import type { ModelStreamPart } from "../../providers/types.js";
import { MessageAccumulator, partsFromDeltas } from "./accumulate.js";

const text = (value: string): ModelStreamPart => ({ type: "text-delta", text: value });
const thought = (value: string): ModelStreamPart => ({ type: "reasoning-delta", text: value });
const input = (toolCallId: string, delta: string): ModelStreamPart => ({
  type: "tool-input-delta",
  toolCallId,
  toolName: "t",
  delta,
});
const call = (toolCallId: string) =>
  ({ type: "tool-call", toolCallId, toolName: "t", arguments: { of: toolCallId } }) as const;
const searched = {
  type: "tool-result",
  toolCallId: "s",
  toolName: "web_search",
  result: null,
  isError: false,
  isProviderExecuted: true,
} as const;
const source = { type: "source", url: "https://example.com/" } as const;
const ended = { type: "reasoning-end" } as const;
const usage = {
  inputTokens: 1,
  outputTokens: 2,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

function gather(stream: ModelStreamPart[]): MessageAccumulator {
  const message = new MessageAccumulator();
  for (const part of stream) message.add(part);
  return message;
}

describe("a stream becomes a message", () => {
  const cases: { name: string; stream: ModelStreamPart[]; parts: MessagePart[] }[] = [
    { name: "nothing", stream: [], parts: [] },
    { name: "only empty words", stream: [text(""), thought("")], parts: [] },
    {
      name: "deltas of one kind are one part",
      stream: [text("a"), text("b")],
      parts: [{ type: "text", text: "ab" }],
    },
    {
      name: "another kind closes the part before it",
      stream: [text("a"), thought("b"), text("c")],
      parts: [
        { type: "text", text: "a" },
        { type: "reasoning", text: "b" },
        { type: "text", text: "c" },
      ],
    },
    {
      name: "each end of a thought closes it, with what the vendor wants back",
      stream: [
        thought("a"),
        { ...ended, providerMetadata: { signature: "1" } },
        thought("b"),
        { ...ended, providerMetadata: { signature: "2" } },
      ],
      parts: [
        { type: "reasoning", text: "a", providerMetadata: { signature: "1" } },
        { type: "reasoning", text: "b", providerMetadata: { signature: "2" } },
      ],
    },
    {
      name: "a redacted thought has no text but is stored",
      stream: [{ ...ended, isRedacted: true, providerMetadata: { data: "x" } }, text("a")],
      parts: [
        { type: "reasoning", text: "", isRedacted: true, providerMetadata: { data: "x" } },
        { type: "text", text: "a" },
      ],
    },
    {
      name: "a thought that says and carries nothing is left out",
      stream: [ended, text("a")],
      parts: [{ type: "text", text: "a" }],
    },
    {
      name: "inputs that arrive interleaved are calls in the order of their beginning",
      stream: [input("a", "{"), input("b", "{"), input("a", "}"), call("b"), call("a")],
      parts: [call("a"), call("b")],
    },
    {
      name: "a call without streamed input",
      stream: [text("I"), call("a"), text("go")],
      parts: [{ type: "text", text: "I" }, call("a"), { type: "text", text: "go" }],
    },
    {
      name: "an input that goes on closes the words between",
      stream: [input("a", "{"), text("b"), input("a", "}"), text("c"), call("a"), text("d")],
      parts: [
        call("a"),
        { type: "text", text: "b" },
        { type: "text", text: "c" },
        { type: "text", text: "d" },
      ],
    },
    {
      name: "a call whose input never ended is left out",
      stream: [text("a"), input("a", '{"x')],
      parts: [{ type: "text", text: "a" }],
    },
    {
      name: "the vendor's own results and sources are parts of the message",
      stream: [call("s"), searched, text("see"), source, text("there")],
      parts: [call("s"), searched, { type: "text", text: "see" }, source, { type: "text", text: "there" }],
    },
  ];
  test.each(cases)("$name", ({ stream, parts }) => {
    expect(gather(stream).parts()).toEqual(parts);
  });
});

test("text that its vendor closed keeps the vendor's metadata, and text that follows is another part", () => {
  const providerMetadata = { openai: { phase: "commentary" } };
  const stream: ModelStreamPart[] = [
    { type: "text-end", providerMetadata },
    text("I look. "),
    { type: "text-end", providerMetadata },
    text("Found it."),
    { type: "text-end" },
  ];
  expect(gather(stream).parts()).toEqual([
    { type: "text", text: "I look. ", providerMetadata },
    { type: "text", text: "Found it." },
  ]);
});

test("the newest usage and the finish reason are recorded, and are no deltas", () => {
  const message = new MessageAccumulator();
  const first = message.add({ type: "usage", usage });
  const second = message.add({ type: "usage", usage: { ...usage, outputTokens: 9 } });
  const last = message.add({ type: "finish", reason: "length" });
  expect([first, second, last, message.usage, message.finishReason]).toEqual([
    null,
    null,
    null,
    { ...usage, outputTokens: 9 },
    "length",
  ]);
});

test("each delta has the index of its part", () => {
  const message = new MessageAccumulator();
  const stream = [
    thought("t"),
    ended,
    text("a"),
    text("b"),
    input("x", "{"),
    input("y", "{"),
    call("x"),
    source,
  ];
  expect(stream.map((part) => message.add(part))).toEqual([
    { partIndex: 0, delta: { type: "reasoning-delta", append: "t" } },
    null,
    { partIndex: 1, delta: { type: "text-delta", append: "a" } },
    { partIndex: 1, delta: { type: "text-delta", append: "b" } },
    { partIndex: 2, delta: { type: "tool-input-delta", toolCallId: "x", toolName: "t", append: "{" } },
    { partIndex: 3, delta: { type: "tool-input-delta", toolCallId: "y", toolName: "t", append: "{" } },
    { partIndex: 2, delta: call("x") },
    { partIndex: 4, delta: source },
  ]);
});

test("deltas are rebuilt into the same message, without unfinished calls", () => {
  const stream = [
    thought("t"),
    text("a"),
    text("b"),
    input("x", "{"),
    call("x"),
    text("c"),
    input("y", "{"),
    searched,
    source,
  ];
  const message = new MessageAccumulator();
  const placed = stream.map((part) => message.add(part)).filter((one) => one !== null);
  const deltas = placed.map((one, index): LiveDelta => ({ sequence: index + 1, role: "assistant", ...one }));
  expect(partsFromDeltas(deltas)).toEqual(message.parts());
  expect(partsFromDeltas([])).toEqual([]);
});

test("deltas that contradict each other never throw", () => {
  const at = (partIndex: number, delta: MessageDelta): LiveDelta => ({
    sequence: 1,
    role: "assistant",
    partIndex,
    delta,
  });
  const deltas = [
    at(3, { type: "text-delta", append: "a" }),
    at(0, call("x")),
    at(0, { type: "text-delta", append: "b" }),
    at(3, { type: "reasoning-delta", append: "c" }),
  ];
  expect(partsFromDeltas(deltas)).toEqual([
    { type: "text", text: "b" },
    { type: "reasoning", text: "c" },
  ]);
});
