/** The whole request of both OpenAI formats. */
import { expect, test } from "vitest";
import { request } from "../../../test/providers/requests/prompts.js";
import { buildChatRequest } from "./chat-prompt.js";
import { openaiResponsesOptionsSchema } from "./options.js";
import { buildResponsesRequest } from "./responses-prompt.js";

test("the Responses request stores nothing and asks for encrypted reasoning", () => {
  const tools = [{ name: "execute", description: "Runs.", inputSchema: { properties: {} } }];
  expect(
    buildResponsesRequest(
      request({ model: "gpt-x", system: "s", tools, reasoningEffort: "low" }),
      "openai",
      openaiResponsesOptionsSchema.parse({}),
    ),
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
  expect(
    buildChatRequest(request({ model: "m", system: "s" }), { kind: "openai_compatible", origin: "x" }, {}),
  ).toEqual({
    ...common,
    max_tokens: 32_000,
  });
  expect(
    buildChatRequest(request({ model: "m", system: "s" }), { kind: "openai", origin: undefined }, {}),
  ).toEqual({
    ...common,
    max_completion_tokens: 32_000,
  });
});
