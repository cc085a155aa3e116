/** Recorded streams of Chat Completions, byte for byte through the real SDK: exactly these parts, or this failure. */
import { describe, expect, test } from "vitest";
import { expectReplay, replay, type ReplayCase } from "./openai-replay.js";
import { CHAT_CASES } from "../streams/openai/chat.js";
import { COMPATIBLE_CASES } from "../streams/openai/chat-compatible.js";

describe("a stream of Chat Completions with", () => {
  test.each([...CHAT_CASES, ...COMPATIBLE_CASES])("$name", async (input) => {
    await expectReplay(input, "chat");
  });
});

test("ids that a server leaves out are made up, another for each call", async () => {
  const fragment = (index: number) => ({ index, function: { name: "execute", arguments: "{}" } });
  const choices = [
    { index: 0, delta: { tool_calls: [fragment(0), fragment(1)] }, finish_reason: "tool_calls" },
  ];
  const input: ReplayCase = {
    name: "no ids",
    chunks: [`data: ${JSON.stringify({ choices })}\n\n`],
    parts: [],
  };
  const { parts } = await replay(input, "chat");
  const ids = parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
  expect(ids).toEqual([
    expect.stringMatching(/^call_[0-9a-f]{32}$/),
    expect.stringMatching(/^call_[0-9a-f]{32}$/),
  ]);
  expect(new Set(ids).size).toBe(2);
});

test.each([
  ["This model's maximum context length is 8192 tokens.", { contextLimit: 8_192 }],
  ["Your input exceeds the context window of this model.", { contextLimit: undefined }],
])("a prompt that is too long (%s) is refused with the limit, if it is named", async (message, expected) => {
  const input: ReplayCase = {
    name: "too long",
    kind: "openai_compatible",
    status: 400,
    headers: { "content-type": "application/json" },
    chunks: [JSON.stringify({ error: { message, type: "BadRequestError", code: 400 } })],
    parts: [],
  };
  const { error } = await replay(input, "chat");
  expect(error).toMatchObject({ ...expected, failure: { kind: "context_too_large", isRetryable: false } });
});
