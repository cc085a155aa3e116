/** Requests to the Responses API, over HTTP through the real SDK, checked against its documentation. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import type { ModelRequest } from "../../../src/providers/types.js";
import { histories, PDF, PNG } from "./histories.js";
import { replay } from "../replays/openai-replay.js";
import { assistant, text, user } from "./prompts.js";
import { responsesRequestSchema } from "../schemas/openai-responses.js";
import { completed, opened } from "../streams/openai/responses-events.js";

const search = {
  itemId: "ws_1",
  status: "completed",
  action: { type: "search", query: "why", queries: ["why"] },
};
const searched = { toolCallId: "ws_1", toolName: "web_search", isProviderExecuted: true } as const;
const found = { status: "completed", sources: ["https://example.com/a"] };
const HISTORIES = histories({
  reasoning: [
    {
      type: "reasoning",
      text: "I think.",
      providerMetadata: { openai: { itemId: "rs_1", encryptedContent: "gAAAenc" } },
    },
    {
      type: "reasoning",
      text: "",
      providerMetadata: { openai: { itemId: "rs_2", encryptedContent: "gAAAhid" } },
    },
  ],
  search: [
    { type: "tool-call", ...searched, arguments: { query: "why" }, providerMetadata: { openai: search } },
    { type: "tool-result", ...searched, result: found, isError: false, providerMetadata: { openai: search } },
    text("It is so."),
    { type: "source", url: "https://example.com/a" },
  ],
  otherVendor: [
    { type: "reasoning", text: "foreign", providerMetadata: { anthropic: { signature: "sig==" } } },
    {
      type: "tool-call",
      ...searched,
      toolCallId: "srvtoolu_1",
      arguments: { query: "foreign" },
      providerMetadata: { anthropic: {} },
    },
    {
      type: "tool-result",
      ...searched,
      toolCallId: "srvtoolu_1",
      result: "foreign",
      isError: false,
      providerMetadata: { anthropic: {} },
    },
  ],
});
const requestOf = (part: string): ModelRequest => {
  const found = HISTORIES.find(({ name }) => name.includes(part));
  if (found === undefined) throw new Error(`no history of ${part}`);
  return { ...found.request, system: "Be brief.", cacheKey: "chat-1" };
};
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

async function sentBody(
  request: Partial<ModelRequest>,
  options?: JsonObject,
  kind?: "openai" | "azure_openai",
) {
  const given = { name: "", chunks: [...opened, completed()], parts: [], ...(kind ? { kind } : {}) };
  const { error, server } = await replay(given, "responses", { ...request, ...(options ? { options } : {}) });
  expect(error).toBeUndefined();
  return server.requests[0]?.body;
}

describe.each([
  ["by default", {}],
  ["that is stored", { store: true }],
  [
    "with every option",
    {
      store: false,
      reasoningSummary: "detailed",
      parallelToolCalls: false,
      maxToolCalls: 3,
      serviceTier: "flex",
      verbosity: "low",
      promptCacheKey: "key",
      safetyIdentifier: "someone",
      metadata: { team: "a" },
      temperature: 0.5,
      topP: 0.9,
      webSearch: { contextSize: "low", allowedDomains: ["example.com"] },
    },
  ],
] as [string, JsonObject][])("a request %s", (_, options) => {
  test.each(HISTORIES)("with the history of $name is what the vendor documents", async ({ request }) => {
    const body = responsesRequestSchema.parse(await sentBody(request, options));
    expect(JSON.stringify(body)).not.toMatch(/otherVendor|sig==|srvtoolu/);
  });
});

test("the options reach the vendor under its own names", async () => {
  const request = {
    ...requestOf("plain"),
    reasoningEffort: "high" as const,
    toolChoice: "none" as const,
    tools: [],
  };
  const options = {
    maxToolCalls: 3,
    metadata: { team: "a" },
    parallelToolCalls: true,
    reasoningSummary: "concise",
    serviceTier: "priority",
    store: true,
    temperature: 1,
    verbosity: "high",
    webSearch: { contextSize: "high" },
  };
  expect(await sentBody(request, options)).toEqual({
    model: "some-model",
    stream: true,
    store: true,
    include: ["web_search_call.action.sources"],
    input: [
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
      { role: "user", content: "how are you?" },
    ],
    instructions: "Be brief.",
    max_output_tokens: 32_000,
    max_tool_calls: 3,
    metadata: { team: "a" },
    parallel_tool_calls: true,
    prompt_cache_key: "chat-1",
    reasoning: { effort: "high", summary: "concise" },
    service_tier: "priority",
    temperature: 1,
    text: { verbosity: "high" },
    tool_choice: "none",
    tools: [{ type: "web_search", search_context_size: "high" }],
  });
});

test("reasoning and searches go back exactly as they came", async () => {
  const inputOf = async (name: string) => responsesRequestSchema.parse(await sentBody(requestOf(name))).input;
  const call = { type: "function_call", call_id: "a", name: "execute", arguments: '{"command":"ls"}' };
  expect(await inputOf("reasoning")).toEqual([
    { role: "user", content: "go" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "I think." }],
      encrypted_content: "gAAAenc",
    },
    { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "gAAAhid" },
    call,
    { type: "function_call_output", call_id: "a", output: '{"output":"src","exitCode":0}' },
  ]);
  expect(await inputOf("web search")).toEqual([
    { role: "user", content: "why?" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: search.action },
    { role: "assistant", content: "It is so." },
    { role: "user", content: "sure?" },
  ]);
});

test("what OpenAI attached is not sent to Azure, and words come back with their phase", async () => {
  const phase = { openai: { phase: "commentary" } };
  const request = {
    ...requestOf("plain"),
    messages: [
      user(text("go")),
      assistant({ type: "text", text: "I look.", providerMetadata: phase }, text("So.")),
      user(text("on")),
    ],
  };
  expect(await sentBody(request)).toMatchObject({
    input: [
      { role: "user", content: "go" },
      { role: "assistant", content: "I look.", phase: "commentary" },
      { role: "assistant", content: "So." },
      { role: "user", content: "on" },
    ],
  });
  for (const name of ["reasoning", "web search"]) {
    const body = JSON.stringify(await sentBody(requestOf(name), undefined, "azure_openai"));
    expect(body).not.toMatch(/rs_1|ws_1|gAAA/);
  }
});

test("images and PDFs are shown, text is read, and what is neither is named", async () => {
  expect(await sentBody(requestOf("an image"))).toMatchObject({
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${base64(PNG)}` },
          {
            type: "input_file",
            filename: "paper.pdf",
            file_data: `data:application/pdf;base64,${base64(PDF)}`,
          },
          { type: "input_text", text: expect.stringContaining("größer") },
        ],
      },
    ],
  });
  const unread = [
    "[file all.zip (application/zip, 4 bytes) cannot be shown to this model]",
    `[file gone.png (image/png, ${PNG.length} bytes) is not available]`,
  ].join("\n\n");
  expect(await sentBody(requestOf("files that"))).toMatchObject({
    input: [{ role: "user", content: unread }, { role: "assistant" }, { role: "user" }],
  });
});

test("the reasoning that an interrupted step left behind is not sent alone", async () => {
  const own = { openai: { itemId: "rs_1", encryptedContent: "gAAAenc" } };
  const messages = [
    user(text("go")),
    assistant(text("I go."), { type: "reasoning", text: "so", providerMetadata: own }),
    user(text("stop that")),
  ];
  const { input } = responsesRequestSchema.parse(await sentBody({ ...requestOf("plain"), messages }));
  expect(input).toEqual([
    { role: "user", content: "go" },
    { role: "assistant", content: "I go." },
    { role: "user", content: "stop that" },
  ]);
});
