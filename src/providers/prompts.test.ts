/** History → vendor input, side by side for the three formats. */
import { describe, expect, test } from "vitest";
import type { MessagePart } from "../domain/message-parts.js";
import { buildAnthropicRequest, toAnthropicMessages } from "./anthropic-prompt.js";
import { anthropicThinking } from "./anthropic-thinking.js";
import { buildChatRequest, toChatMessages } from "./openai-chat-prompt.js";
import { buildResponsesRequest, toInputItems } from "./openai-responses-prompt.js";
import {
  fileReferenceText,
  parseToolArguments,
  sanitizeToolCallId,
  toolResultText,
  wellFormed,
} from "./prompt-parts.js";
import type { ModelRequest, PromptMessage } from "./types.js";

const user = (...parts: MessagePart[]): PromptMessage => ({ role: "user", parts });
const assistant = (...parts: MessagePart[]): PromptMessage => ({ role: "assistant", parts });
const tool = (...parts: MessagePart[]): PromptMessage => ({ role: "tool", parts });
const text = (words: string): MessagePart => ({ type: "text", text: words });
const call: MessagePart = {
  type: "tool-call",
  toolCallId: "a/1",
  toolName: "execute",
  arguments: { command: "ls" },
};
const answer = { type: "tool-result" as const, toolCallId: "a/1", toolName: "execute" };
const anthropicThought = {
  type: "reasoning" as const,
  text: "hm",
  providerMetadata: { anthropic: { signature: "sig" } },
};
const openaiThought = {
  type: "reasoning" as const,
  text: "hm",
  providerMetadata: { openai: { itemId: "rs_1", encryptedContent: "enc" } },
};
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "claude-sonnet-5",
  system: "",
  messages: [user(text("hi"))],
  tools: [],
  maxOutputTokens: 32_000,
  ...more,
});

type Case = { name: string; given: PromptMessage[]; anthropic: unknown; responses: unknown; chat: unknown };
const CASES: Case[] = [
  {
    name: "neighbours of one role",
    given: [user(text("a"), text(" ")), user(text("b"))],
    anthropic: [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
    ],
    responses: [
      { role: "user", content: "a" },
      { role: "user", content: "b" },
    ],
    chat: [{ role: "user", content: "a\n\nb" }],
  },
  {
    name: "a call, its result and the next user message",
    given: [
      user(text("go")),
      assistant(text("ok"), call),
      tool({ ...answer, result: { n: 1 }, isError: false }),
      user(text("and?")),
    ],
    anthropic: [
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "ok" },
          { type: "tool_use", id: "a_1", name: "execute", input: { command: "ls" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a_1", content: '{"n":1}' },
          { type: "text", text: "and?" },
        ],
      },
    ],
    responses: [
      { role: "user", content: "go" },
      { role: "assistant", content: "ok" },
      { type: "function_call", call_id: "a_1", name: "execute", arguments: '{"command":"ls"}' },
      { type: "function_call_output", call_id: "a_1", output: '{"n":1}' },
      { role: "user", content: "and?" },
    ],
    chat: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "ok",
        tool_calls: [
          { id: "a_1", type: "function", function: { name: "execute", arguments: '{"command":"ls"}' } },
        ],
      },
      { role: "tool", tool_call_id: "a_1", content: '{"n":1}' },
      { role: "user", content: "and?" },
    ],
  },
  {
    name: "a failed result",
    given: [user(text("go")), tool({ ...answer, result: "no such file", isError: true })],
    anthropic: [
      {
        role: "user",
        content: [
          { type: "text", text: "go" },
          { type: "tool_result", tool_use_id: "a_1", content: "no such file", is_error: true },
        ],
      },
    ],
    responses: [
      { role: "user", content: "go" },
      { type: "function_call_output", call_id: "a_1", output: '{"error":"no such file"}' },
    ],
    chat: [
      { role: "user", content: "go" },
      { role: "tool", tool_call_id: "a_1", content: '{"error":"no such file"}' },
    ],
  },
  {
    name: "reasoning goes back to its own vendor only",
    given: [
      user(text("go")),
      assistant(anthropicThought, openaiThought, { type: "reasoning", text: "cut" }, text("ok")),
    ],
    anthropic: [
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          { type: "text", text: "ok" },
        ],
      },
    ],
    responses: [
      { role: "user", content: "go" },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "hm" }],
        encrypted_content: "enc",
      },
      { role: "assistant", content: "ok" },
    ],
    chat: [
      { role: "user", content: "go" },
      { role: "assistant", content: "ok" },
    ],
  },
  {
    name: "an interrupted thought that nothing followed",
    given: [user(text("go")), assistant(openaiThought), user(text("again"))],
    anthropic: [
      {
        role: "user",
        content: [
          { type: "text", text: "go" },
          { type: "text", text: "again" },
        ],
      },
    ],
    responses: [
      { role: "user", content: "go" },
      { role: "user", content: "again" },
    ],
    chat: [{ role: "user", content: "go\n\nagain" }],
  },
  {
    name: "a history that begins with the assistant",
    given: [assistant(text("ok"), { type: "source", url: "http://a" })],
    anthropic: [
      { role: "user", content: [{ type: "text", text: "(The conversation continues.)" }] },
      { role: "assistant", content: [{ type: "text", text: "ok" }] },
    ],
    responses: [{ role: "assistant", content: "ok" }],
    chat: [{ role: "assistant", content: "ok" }],
  },
  {
    name: "a vendor-executed search of another vendor",
    given: [
      user(text("go")),
      assistant(
        {
          type: "tool-call",
          toolCallId: "s",
          toolName: "web_search",
          arguments: {},
          isProviderExecuted: true,
        },
        {
          ...answer,
          toolCallId: "s",
          toolName: "web_search",
          result: [],
          isError: false,
          isProviderExecuted: true,
        },
        text("ok"),
      ),
    ],
    anthropic: [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: [{ type: "text", text: "ok" }] },
    ],
    responses: [
      { role: "user", content: "go" },
      { role: "assistant", content: "ok" },
    ],
    chat: [
      { role: "user", content: "go" },
      { role: "assistant", content: "ok" },
    ],
  },
];

describe.each(CASES)("$name", ({ given, anthropic, responses, chat }) => {
  test("for Anthropic", () => expect(toAnthropicMessages(given)).toEqual(anthropic));
  test("for OpenAI Responses", () => expect(toInputItems(given)).toEqual(responses));
  test("for Chat Completions", () => expect(toChatMessages(given)).toEqual(chat));
});

test("Anthropic's cache marks sit on the system prompt and on the last two messages, never on thinking", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const messages = [user(text("a")), assistant(text("b"), anthropicThought), user(text("c"), text("d"))];
  expect(buildAnthropicRequest(request({ system: "be brief", messages }))).toEqual({
    model: "claude-sonnet-5",
    max_tokens: 32_000,
    stream: true,
    system: [{ type: "text", text: "be brief", ...mark }],
    messages: [
      { role: "user", content: [{ type: "text", text: "a" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "b", ...mark },
          { type: "thinking", thinking: "hm", signature: "sig" },
        ],
      },
      {
        role: "user",
        content: [
          { type: "text", text: "c" },
          { type: "text", text: "d", ...mark },
        ],
      },
    ],
  });
});

test("an Anthropic search goes back word for word, and only as a pair", () => {
  const search: MessagePart = {
    type: "tool-call",
    toolCallId: "s",
    toolName: "web_search",
    arguments: { query: "q" },
    isProviderExecuted: true,
  };
  const found: MessagePart = {
    ...answer,
    toolCallId: "s",
    toolName: "web_search",
    result: [],
    isError: false,
    isProviderExecuted: true,
    providerMetadata: { anthropic: { content: [{ type: "web_search_result", encrypted_content: "x" }] } },
  };
  expect(toAnthropicMessages([user(text("go")), assistant(search, found)])[1]).toEqual({
    role: "assistant",
    content: [
      { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "s",
        content: [{ type: "web_search_result", encrypted_content: "x" }],
      },
    ],
  });
  expect(toAnthropicMessages([user(text("go")), assistant(search)])).toHaveLength(1);
  expect(toAnthropicMessages([user(text("go")), assistant(found)])).toHaveLength(1);
});

describe("how hard an Anthropic model thinks", () => {
  const adaptive = (effort: string) => ({
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort },
  });
  const budget = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });
  const toolTurn = [user(text("go")), assistant(call), tool({ ...answer, result: "", isError: false })];
  const cases: [Partial<ModelRequest>, unknown][] = [
    [{}, {}],
    [{ reasoningEffort: "high" }, adaptive("high")],
    [{ reasoningEffort: "minimal" }, adaptive("low")],
    [{ reasoningEffort: "xhigh" }, adaptive("xhigh")],
    [{ reasoningEffort: "xhigh", model: "claude-opus-4-6" }, adaptive("high")],
    [{ reasoningEffort: "max", model: "claude-opus-4-8" }, adaptive("max")],
    [{ reasoningEffort: "none" }, { thinking: { type: "disabled" } }],
    [{ reasoningEffort: "none", model: "claude-haiku-4-5" }, {}],
    [{ reasoningEffort: "medium", model: "claude-sonnet-4-5-20250929" }, budget(8_192)],
    [{ reasoningEffort: "medium", model: "claude-sonnet-4-20250514" }, budget(8_192)],
    [{ reasoningEffort: "low", model: "claude-3-7-sonnet-latest" }, budget(2_048)],
    [{ reasoningEffort: "max", model: "claude-opus-4-5" }, budget(30_976)],
    [{ reasoningEffort: "low", model: "claude-opus-4-1", maxOutputTokens: 2_000 }, {}],
    [{ reasoningEffort: "low", model: "claude-opus-4-1", messages: toolTurn }, {}],
    [{ reasoningEffort: "low", model: "claude-sonnet-5-5", messages: toolTurn }, adaptive("low")],
  ];
  test.each(cases)("%j", (more, expected) => {
    expect(anthropicThinking(request(more))).toEqual(expected);
  });
});

test("the Responses request stores nothing and asks for encrypted reasoning", () => {
  const tools = [{ name: "execute", description: "Runs.", inputSchema: { properties: {} } }];
  expect(
    buildResponsesRequest(request({ model: "gpt-x", system: "s", tools, reasoningEffort: "low" })),
  ).toEqual({
    model: "gpt-x",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    input: [{ role: "user", content: "hi" }],
    max_output_tokens: 32_000,
    instructions: "s",
    tools: [
      {
        type: "function",
        name: "execute",
        description: "Runs.",
        parameters: { type: "object", properties: {} },
        strict: false,
      },
    ],
    reasoning: { effort: "low", summary: "auto" },
  });
});

test("the Chat Completions request names its limit as the server knows it", () => {
  const common = {
    model: "m",
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: "s" },
      { role: "user", content: "hi" },
    ],
  };
  expect(buildChatRequest(request({ model: "m", system: "s" }), true)).toEqual({
    ...common,
    max_tokens: 32_000,
  });
  expect(buildChatRequest(request({ model: "m", system: "s" }), false)).toEqual({
    ...common,
    max_completion_tokens: 32_000,
  });
});

describe("parts that all vendors share", () => {
  const reference = {
    type: "file-reference" as const,
    path: "a.ts",
    startLine: 3,
    endLine: 5,
    content: "x\n",
  };
  test("a file reference is a header and a fence", () => {
    expect(fileReferenceText(reference)).toBe("[file-reference] a.ts:3-5\n```\nx\n```");
    expect(fileReferenceText({ ...reference, endLine: 3 })).toBe("[file-reference] a.ts:3\n```\nx\n```");
    expect(fileReferenceText({ ...reference, content: "" })).toBe("[file-reference] a.ts:3-5");
    expect(fileReferenceText({ ...reference, content: "```js" })).toBe(
      "[file-reference] a.ts:3-5\n````\n```js\n````",
    );
  });

  test("call ids keep to what every vendor takes", () => {
    expect(["ok-1_A", "a b/c", "", "é"].map(sanitizeToolCallId)).toEqual(["ok-1_A", "a_b_c", "call", "_"]);
    const [first, second] = [sanitizeToolCallId("x".repeat(99)), sanitizeToolCallId("x".repeat(98))];
    expect([first.length, second.length, first === second]).toEqual([64, 64, false]);
  });

  test("half a surrogate pair is replaced, whole ones stay", () => {
    expect(wellFormed("a\uD83D b 🌍 \uDF0D")).toBe("a\uFFFD b 🌍 \uFFFD");
    expect(toolResultText("cut \uD83D")).toBe("cut \uFFFD");
  });

  test("arguments that are no object become {}", () => {
    const given = ['{"a":1}', "", "null", "[1]", "{", '"a"', "1"];
    expect(given.map(parseToolArguments)).toEqual([{ a: 1 }, {}, {}, {}, {}, {}, {}]);
  });
});
