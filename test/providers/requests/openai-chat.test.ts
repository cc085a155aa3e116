/** Requests to Chat Completions servers, over HTTP through the real SDK, checked against the documentation. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import type { PromptPart } from "../../../src/domain/chats/message-parts.js";
import { buildChatRequest } from "../../../src/providers/openai/chat-prompt.js";
import type { ModelRequest, ProviderSettings } from "../../../src/providers/types.js";
import { histories, PDF, PNG } from "./histories.js";
import { createProvider } from "../../../src/providers/registry.js";
import { replay } from "../replays/openai-replay.js";
import { assistant, call, answer, text, tool, user } from "./prompts.js";
import { serveStream } from "../replays/replay-server.js";
import { chatRequestSchema } from "../schemas/openai-chat.js";
import { collect } from "../support.js";
import { ending, role } from "../streams/openai/chat-chunks.js";

const own = { openai: { itemId: "rs_1", encryptedContent: "gAAAenc" } };
const thoughts: PromptPart[] = [{ type: "reasoning", text: "I think.", providerMetadata: own }];
const HISTORIES = histories({
  reasoning: thoughts,
  search: [text("It is so."), { type: "source", url: "https://example.com/a" }],
  otherVendor: thoughts,
});
const requestOf = (part: string): ModelRequest => {
  const found = HISTORIES.find(({ name }) => name.includes(part));
  if (found === undefined) throw new Error(`no history of ${part}`);
  return { ...found.request, system: "Be brief.", cacheKey: "chat-1" };
};
const PLAIN = { ...requestOf("plain"), tools: requestOf("a web search").tools.slice(0, 1) };
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

async function sentBody(
  kind: ProviderSettings["kind"],
  request: Partial<ModelRequest>,
  options?: JsonObject,
): Promise<unknown> {
  const input = { name: "", chunks: [role, ...ending], parts: [], kind };
  const { error, server } = await replay(input, "chat", { ...request, ...(options ? { options } : {}) });
  expect(error).toBeUndefined();
  return server.requests[0]?.body;
}

const SCHEMAS = {
  openai: chatRequestSchema({ hasFiles: true, hasReasoning: false, limitName: "max_completion_tokens" }),
  azure_openai: chatRequestSchema({
    hasFiles: false,
    hasReasoning: false,
    limitName: "max_completion_tokens",
  }),
  openai_compatible: chatRequestSchema({ hasFiles: false, hasReasoning: true, limitName: "max_tokens" }),
};
const ALL_OPTIONS = {
  parallelToolCalls: false,
  serviceTier: "flex",
  verbosity: "low",
  promptCacheKey: "key",
  safetyIdentifier: "someone",
  metadata: { team: "a" },
  store: true,
  temperature: 0.5,
  topP: 0.9,
};

describe.each(["openai", "azure_openai", "openai_compatible"] as const)("a request to %s", (kind) => {
  test.each(HISTORIES)("with the history of $name is what the format documents", async ({ request }) => {
    for (const options of [{}, ALL_OPTIONS]) {
      const body = SCHEMAS[kind].parse(await sentBody(kind, request, options));
      expect(JSON.stringify(body)).not.toMatch(/I think|rs_1|gAAAenc/);
    }
  });
});

test("the options reach the vendor under its own names", async () => {
  const request = { ...PLAIN, toolChoice: "none" as const, reasoningEffort: "low" as const };
  expect(await sentBody("openai", request, ALL_OPTIONS)).toEqual({
    model: "some-model",
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      { role: "assistant", content: "hello" },
      { role: "user", content: "how are you?" },
    ],
    max_completion_tokens: 32_000,
    metadata: { team: "a" },
    parallel_tool_calls: false,
    prompt_cache_key: "key",
    reasoning_effort: "low",
    safety_identifier: "someone",
    service_tier: "flex",
    store: true,
    temperature: 0.5,
    tool_choice: "none",
    tools: [
      {
        type: "function",
        function: {
          name: "execute",
          description: "Runs a command.",
          parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
        },
      },
    ],
    top_p: 0.9,
    verbosity: "low",
  });
});

test("a chat's cache key goes to OpenAI and Azure, and not to servers that may not know it", async () => {
  const long = { ...PLAIN, cacheKey: "x".repeat(200) };
  expect(await sentBody("openai", PLAIN)).toMatchObject({ prompt_cache_key: "chat-1" });
  expect(await sentBody("azure_openai", long)).toMatchObject({
    prompt_cache_key: expect.stringMatching(/^\w{64}$/),
  });
  expect(await sentBody("openai_compatible", PLAIN)).not.toHaveProperty("prompt_cache_key");
});

test("a compatible server gets what its configuration adds, over everything else", async () => {
  const options = {
    reasoningEffortStyle: "reasoning",
    extraBody: { provider: { order: ["a"] }, max_tokens: 7, stream: false, top_k: 20 },
  };
  const request = { ...PLAIN, reasoningEffort: "high" as const };
  expect(await sentBody("openai_compatible", request, options)).toMatchObject({
    provider: { order: ["a"] },
    max_tokens: 7,
    top_k: 20,
    reasoning: { effort: "high" },
    stream: true,
  });
  const off = await sentBody("openai_compatible", request, { reasoningEffortStyle: "off" });
  expect(Object.keys(off as object).filter((key) => key.startsWith("reasoning"))).toEqual([]);
});

test("images are shown; PDFs where the server takes them; other files are read or named", async () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${base64(PNG)}` } };
  const pdf = {
    type: "file",
    file: { filename: "paper.pdf", file_data: `data:application/pdf;base64,${base64(PDF)}` },
  };
  const unseen = (name: string, type: string, bytes: number) =>
    `[file ${name} (${type}, ${bytes} bytes) cannot be shown to this model]`;
  const noPdf = { type: "text", text: unseen("paper.pdf", "application/pdf", PDF.length) };
  const contentOf = async (kind: ProviderSettings["kind"], options?: JsonObject) => {
    const body = (await sentBody(kind, requestOf("an image"), options)) as {
      messages: { content: unknown }[];
    };
    return body.messages[1]?.content;
  };
  const see = { type: "text", text: "look" };
  const notes = { type: "text", text: "[file] notes.txt\n```\ngrößer\n```" };
  expect(await contentOf("openai")).toEqual([see, image, pdf, notes]);
  expect(await contentOf("azure_openai")).toEqual([see, image, noPdf, notes]);
  expect(await contentOf("openai_compatible")).toEqual([see, image, noPdf, notes]);
  expect(await contentOf("openai_compatible", { acceptsPdfs: true })).toEqual([see, image, pdf, notes]);
  expect(await contentOf("openai_compatible", { acceptsImages: false })).toBe(
    ["look", unseen("dot.png", "image/png", PNG.length), noPdf.text, notes.text].join("\n\n"),
  );
});

test("consecutive user messages of a picture and text become one", async () => {
  const request = requestOf("an image");
  const messages = [...request.messages, user(text("what is it?"))];
  const body = (await sentBody("openai", { ...request, messages })) as { messages: { content: unknown[] }[] };
  expect(body.messages).toHaveLength(2);
  expect(body.messages[1]?.content.at(-1)).toEqual({ type: "text", text: "what is it?" });
});

describe("a compatible server's reasoning", () => {
  const thought = (words: string, origin: string, more: JsonObject): PromptPart => ({
    type: "reasoning",
    text: words,
    providerMetadata: { openai_compatible: { origin, ...more } },
  });
  const sent = (messages: ModelRequest["messages"], options = {}) =>
    buildChatRequest(
      { ...PLAIN, system: "", messages },
      { kind: "openai_compatible", origin: "here" },
      options,
    ).messages;
  const field = { field: "reasoning_content" };
  const history = [
    user(text("go")),
    assistant(thought("I ", "here", field), thought("think", "here", field), call),
    tool({ ...answer, result: "ok", isError: false }),
    assistant(text("done")),
    user(text("again")),
  ];

  test("goes back to it under the name it came by, and then with every message", () => {
    expect(sent(history)).toMatchObject([
      { role: "user" },
      { role: "assistant", reasoning_content: "I think" },
      { role: "tool" },
      { role: "assistant", content: "done", reasoning_content: "" },
      { role: "user" },
    ]);
  });

  test("stays away when its configuration says so", () => {
    expect(JSON.stringify(sent(history, { replayReasoning: false }))).not.toContain("reasoning");
  });

  test("stays away from another server", () => {
    const otherVendor = [
      user(text("go")),
      assistant(thought("hm", "there", field), text("so")),
      user(text("again")),
    ];
    expect(JSON.stringify(sent(otherVendor))).not.toContain("reasoning");
  });

  test("goes back in all its details, signatures and hidden blocks included", () => {
    const details: JsonObject[] = [
      { type: "reasoning.text", text: "hm", signature: "sig", index: 0 },
      { type: "reasoning.encrypted", data: "AAAA", index: 1 },
    ];
    const input = [
      user(text("go")),
      assistant(
        thought("hm", "here", { details: details.slice(0, 1) }),
        thought("", "here", { details: details.slice(1) }),
        text("so"),
      ),
      user(text("again")),
    ];
    expect(sent(input)[1]).toEqual({ role: "assistant", content: "so", reasoning_details: details });
  });
});

test("a server that misses reasoning in another vendor's answers is asked once more, with it left empty", async () => {
  const message = "Missing `reasoning_content` field in the assistant message at message index 2.";
  const server = await serveStream(
    [JSON.stringify({ error: { message, type: "invalid_request_error" } })],
    { "content-type": "application/json" },
    400,
  );
  const provider = await createProvider({
    kind: "openai_compatible",
    displayName: "Acme",
    apiKey: "k",
    baseUrl: server.url,
    openaiApi: "chat",
  });
  const request = { ...PLAIN, messages: [user(text("a")), assistant(text("b")), user(text("c"))] };
  const asked = collect(provider.stream(request, new AbortController().signal));
  await expect(asked).rejects.toMatchObject({
    failure: { kind: "generic", isRetryable: false, detail: message },
  });
  await server.close();
  const answers = server.requests.map(({ body }) => (body.messages as unknown[])[2]);
  expect(answers).toEqual([
    { role: "assistant", content: "b" },
    { role: "assistant", content: "b", reasoning_content: "" },
  ]);
});
