/** Requests to Anthropic and Bedrock for ten histories, received over HTTP and checked against their schemas. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import type { PromptPart } from "../../../src/domain/chats/message-parts.js";
import type { ModelRequest } from "../../../src/providers/types.js";
import { bodyOf, CITATION, FOUND, HISTORIES, historyOf, MARK, send } from "./anthropic-histories.js";
import { PDF, PNG } from "./histories.js";
import { anthropicBodySchema, bedrockBodySchema } from "../schemas/anthropic.js";

const OPTIONS: [string, Partial<ModelRequest>][] = [
  ["nothing more", {}],
  ["effort", { reasoningEffort: "high" }],
  ["a budget", { reasoningEffort: "high", model: "claude-opus-4-5" }],
  ["all options", { options: allOptions({}), reasoningEffort: "low", toolChoice: "none" }],
  [
    "all options and a budget",
    { options: allOptions({}), model: "claude-haiku-4-5", reasoningEffort: "max" },
  ],
  ["all options without thinking", { options: allOptions({ effort: "max" }), reasoningEffort: "none" }],
];
function allOptions(more: JsonObject): JsonObject {
  return {
    temperature: 0.3,
    topP: 0.5,
    topK: 40,
    stopSequences: ["END"],
    disableParallelToolUse: true,
    thinkingBudgetTokens: 2_000,
    betas: ["context-1m-2025-08-07", "other-beta"],
    ...more,
  };
}

describe.each(HISTORIES)("the history $name", ({ request }) => {
  test.each(OPTIONS)("is fit for Anthropic with %s", async (_, more) => {
    const options = { ...more.options, webSearch: { maxUses: 3 }, serviceTier: "auto" };
    expect(
      anthropicBodySchema.safeParse(await bodyOf({ ...request, ...more, options })).error?.issues,
    ).toBeUndefined();
  });

  test.each(OPTIONS)("is fit for Bedrock with %s", async (_, more) => {
    const { body } = await send("bedrock", { ...request, ...more });
    expect(bedrockBodySchema.safeParse(body).error?.issues).toBeUndefined();
  });
});

describe("the schema refuses", () => {
  const user = { role: "user", content: [{ type: "text", text: "hi" }] };
  const body = { model: "m", stream: true, max_tokens: 9, messages: [user] };
  test.each([
    ["an unknown key", { ...body, extra: 1 }],
    ["blank text", { ...body, messages: [{ role: "user", content: [{ type: "text", text: " " }] }] }],
    ["two of one role", { ...body, messages: [user, user] }],
    [
      "a call without its result",
      {
        ...body,
        messages: [
          user,
          { role: "assistant", content: [{ type: "tool_use", id: "a", name: "x", input: {} }] },
          user,
        ],
      },
    ],
  ])("%s", (_, given) => {
    expect(anthropicBodySchema.safeParse(body).success).toBe(true);
    expect(anthropicBodySchema.safeParse(given).success).toBe(false);
  });
});

test("a search goes back exactly as it came, its citations on their own stretch of the text", async () => {
  const { messages } = await bodyOf(historyOf("a web search").request);
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "why?" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look it up." },
        {
          type: "server_tool_use",
          id: "srvtoolu_1",
          name: "web_search",
          input: { query: "why" },
          caller: { type: "direct" },
        },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_1",
          caller: { type: "direct" },
          content: FOUND,
        },
        { type: "text", text: "It is so " },
        { type: "text", text: "because.", citations: [CITATION] },
        { type: "text", text: "\n\nReally.", ...MARK },
      ],
    },
    { role: "user", content: [{ type: "text", text: "sure?", ...MARK }] },
  ]);
});

test("Bedrock gets the words of a search, not the search", async () => {
  const { body } = await send("bedrock", historyOf("a web search").request);
  expect(body.messages).toEqual([
    { role: "user", content: [{ type: "text", text: "why?" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look it up." },
        { type: "text", text: "It is so because.\n\nReally.", ...MARK },
      ],
    },
    { role: "user", content: [{ type: "text", text: "sure?", ...MARK }] },
  ]);
});

test("thinking leads its tools back, signed and hidden, word for word", async () => {
  const { messages } = await bodyOf(historyOf("reasoning, and tools behind it").request);
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "go" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig==" },
        { type: "redacted_thinking", data: "red==" },
        { type: "tool_use", id: "a", name: "execute", input: { command: "ls" }, ...MARK },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "a", content: '{"output":"src","exitCode":0}', ...MARK }],
    },
  ]);
});

test("images and PDFs are shown, texts are written out, the rest is named", async () => {
  const shown = await bodyOf(historyOf("an image, a PDF and a text").request);
  expect(shown.messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG.toString("base64") } },
        {
          type: "document",
          title: "paper.pdf",
          source: { type: "base64", media_type: "application/pdf", data: PDF.toString("base64") },
        },
        { type: "text", text: "[file] notes.txt\n```\ngrößer\n```", ...MARK },
      ],
    },
  ]);
  const named = await bodyOf(historyOf("files that cannot be shown").request);
  expect(named.messages).toMatchObject([
    {
      content: [
        { text: "[file all.zip (application/zip, 4 bytes) cannot be shown to this model]" },
        { text: `[file gone.png (image/png, ${PNG.length} bytes) is not available]` },
      ],
    },
    {},
    {},
  ]);
});

test("an image that the vendor would refuse for its size is named instead", async () => {
  const bytes = new Uint8Array((5 * 1024 * 1024 * 3) / 4 + 1);
  const part: PromptPart = {
    type: "file",
    fileId: "f",
    name: "big.png",
    mediaType: "image/png",
    sizeBytes: bytes.length,
  };
  const { request } = historyOf("plain");
  const sent = await bodyOf({
    ...request,
    messages: [{ role: "user", parts: [part] }],
    files: new Map([["f", bytes]]),
  });
  expect(sent.messages).toMatchObject([
    { content: [{ text: "[file big.png (image/png, 3932161 bytes) cannot be shown to this model]" }] },
  ]);
});
