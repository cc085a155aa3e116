/** Specifics of Anthropic's requests: cache marks, returned searches, and thinking effort. */
import { describe, expect, test } from "vitest";
import {
  anthropicThought,
  answer,
  assistant,
  call,
  request,
  text,
  tool,
  user,
} from "../../../test/providers/requests/prompts.js";
import type { PromptPart } from "../../domain/chats/message-parts.js";
import { buildAnthropicRequest, toAnthropicMessages } from "./prompt.js";
import type { AnthropicOptions } from "./options.js";
import { anthropicSampling, anthropicThinking, type ThinkingFields } from "./thinking.js";
import type { ModelRequest } from "../types.js";

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
  const search: PromptPart = {
    type: "tool-call",
    toolCallId: "s",
    toolName: "web_search",
    arguments: { query: "q" },
    isProviderExecuted: true,
  };
  const found: PromptPart = {
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
    [{ reasoningEffort: "low", model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0" }, budget(2_048)],
    [{ reasoningEffort: "low", model: "anthropic.claude-opus-4-20250514-v1:0" }, budget(2_048)],
    [{ reasoningEffort: "low", model: "global.anthropic.claude-sonnet-5-5" }, adaptive("low")],
    [{ reasoningEffort: "xhigh", model: "anthropic.claude-opus-4-6-v1" }, adaptive("high")],
  ];
  test.each(cases)("%j", (more, expected) => {
    expect(anthropicThinking(request(more))).toEqual(expected);
  });

  const chosen: [AnthropicOptions, Partial<ModelRequest>, unknown][] = [
    [{ effort: "low" }, {}, { output_config: { effort: "low" } }],
    [{ effort: "low" }, { reasoningEffort: "max" }, adaptive("max")],
    [
      { effort: "low" },
      { reasoningEffort: "none" },
      { thinking: { type: "disabled" }, output_config: { effort: "low" } },
    ],
    [{ effort: "xhigh" }, { model: "claude-opus-4-6" }, { output_config: { effort: "high" } }],
    [{ effort: "max" }, { model: "claude-opus-4-5" }, { output_config: { effort: "high" } }],
    [{ effort: "max" }, { model: "claude-sonnet-4-5" }, {}],
    [{ thinkingBudgetTokens: 5_000 }, { model: "claude-sonnet-4-5" }, budget(5_000)],
    [{ thinkingBudgetTokens: 5_000 }, { model: "claude-sonnet-4-5", reasoningEffort: "max" }, budget(5_000)],
    [{ thinkingBudgetTokens: 5_000 }, { model: "claude-sonnet-4-5", reasoningEffort: "none" }, {}],
    [{ thinkingBudgetTokens: 99_000 }, { model: "claude-sonnet-4-5" }, budget(30_976)],
    [{ thinkingBudgetTokens: 5_000 }, {}, { thinking: { type: "adaptive", display: "summarized" } }],
    [
      { thinkingBudgetTokens: 5_000, effort: "low" },
      { model: "claude-opus-4-5" },
      { ...budget(5_000), output_config: { effort: "low" } },
    ],
  ];
  test.each(chosen)("%j and %j", (options, more, expected) => {
    expect(anthropicThinking(request(more), options)).toEqual(expected);
  });
});

describe("how freely an Anthropic model chooses its words", () => {
  const all = { temperature: 0.2, topP: 0.9, topK: 4 };
  const cases: [string, AnthropicOptions, ThinkingFields, unknown][] = [
    ["claude-sonnet-4-5", all, {}, { temperature: 0.2, top_k: 4 }],
    ["claude-sonnet-4-6", { topP: 0.9 }, {}, { top_p: 0.9 }],
    ["claude-sonnet-4-6", all, { thinking: { type: "disabled" } }, { temperature: 0.2, top_k: 4 }],
    ["claude-sonnet-4-6", all, { thinking: { type: "adaptive" } }, {}],
    [
      "claude-sonnet-4-5",
      { topP: 0.97 },
      { thinking: { type: "enabled", budget_tokens: 1_024 } },
      { top_p: 0.97 },
    ],
    ["claude-opus-4-7", all, {}, {}],
    ["anthropic.claude-sonnet-5", all, {}, {}],
    ["some-other-model", all, {}, { temperature: 0.2, top_k: 4 }],
    ["claude-sonnet-4-5", { temperature: 0 }, {}, { temperature: 0 }],
  ];
  test.each(cases)("%s with %j and %j", (model, options, thinking, expected) => {
    expect(anthropicSampling(model, options, thinking)).toEqual(expected);
  });
});
