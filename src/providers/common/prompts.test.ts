/** Conversion of history to vendor input, side by side for the three formats. */
import { describe, expect, test } from "vitest";
import {
  anthropicThought,
  answer,
  assistant,
  call,
  openaiThought,
  text,
  tool,
  user,
} from "../../../test/providers/requests/prompts.js";
import { toAnthropicMessages } from "../anthropic/prompt.js";
import { toChatMessages } from "../openai/chat-prompt.js";
import { toInputItems } from "../openai/responses-prompt.js";
import type { PromptMessage } from "../types.js";

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
          { type: "tool_use", id: "a_1_773232abe9343f0e", name: "execute", input: { command: "ls" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a_1_773232abe9343f0e", content: '{"n":1}' },
          { type: "text", text: "and?" },
        ],
      },
    ],
    responses: [
      { role: "user", content: "go" },
      { role: "assistant", content: "ok" },
      {
        type: "function_call",
        call_id: "a_1_773232abe9343f0e",
        name: "execute",
        arguments: '{"command":"ls"}',
      },
      { type: "function_call_output", call_id: "a_1_773232abe9343f0e", output: '{"n":1}' },
      { role: "user", content: "and?" },
    ],
    chat: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: "ok",
        tool_calls: [
          {
            id: "a_1_773232abe9343f0e",
            type: "function",
            function: { name: "execute", arguments: '{"command":"ls"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "a_1_773232abe9343f0e", content: '{"n":1}' },
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
          {
            type: "tool_result",
            tool_use_id: "a_1_773232abe9343f0e",
            content: "no such file",
            is_error: true,
          },
        ],
      },
    ],
    responses: [
      { role: "user", content: "go" },
      { type: "function_call_output", call_id: "a_1_773232abe9343f0e", output: '{"error":"no such file"}' },
    ],
    chat: [
      { role: "user", content: "go" },
      { role: "tool", tool_call_id: "a_1_773232abe9343f0e", content: '{"error":"no such file"}' },
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
