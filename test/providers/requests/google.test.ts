/** Requests to Gemini for ten histories, received over HTTP and checked against its schema. */
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/common/json.js";
import type { FilePart, PromptPart } from "../../../src/domain/chats/message-parts.js";
import { createProvider } from "../../../src/providers/registry.js";
import type { ModelRequest, PromptMessage } from "../../../src/providers/types.js";
import { type History, histories, PDF, PNG, TOOLS } from "./histories.js";
import { assistant, request as requestOf, text, tool, user } from "./prompts.js";
import { type ReplayServer, serveStream } from "../replays/replay-server.js";
import { googleBodySchema } from "../schemas/google.js";
import { collect } from "../support.js";

const MODEL = "gemini-3.8-flash";
const SENTINEL = "skip_thought_signature_validator";
const own = (fields: JsonObject, model = MODEL) => ({ providerMetadata: { google: { ...fields, model } } });

const CALL = {
  toolCall: { toolType: "GOOGLE_SEARCH_WEB", id: "s1", args: { queries: ["why"] } },
  thoughtSignature: "c2VhcmNo",
};
const RESPONSE = {
  toolResponse: { toolType: "GOOGLE_SEARCH_WEB", id: "s1", response: { search_suggestions: "<b>why</b>" } },
};
const searched = (metadata: (part: JsonObject) => JsonObject): PromptPart[] => [
  {
    type: "tool-call",
    toolCallId: "s1",
    toolName: "web_search",
    arguments: { query: "why" },
    isProviderExecuted: true,
    providerMetadata: metadata(CALL),
  },
  {
    type: "tool-result",
    toolCallId: "s1",
    toolName: "web_search",
    result: {},
    isError: false,
    isProviderExecuted: true,
    providerMetadata: metadata(RESPONSE),
  },
];

const HISTORIES = histories({
  reasoning: [
    { type: "reasoning", text: "I think", ...own({ thoughtSignature: "dGhvdWdodA==", signedFrom: 2 }) },
    { type: "reasoning", text: "only for people" },
    { type: "reasoning", text: "", ...own({ thoughtSignature: "aGlkZGVu", isText: true }) },
  ],
  search: [
    ...searched((part) => own({ part }).providerMetadata),
    { ...text("because"), ...own({ thoughtSignature: "ZW5k", signedFrom: 7 }) } as PromptPart,
    { type: "source", url: "https://example.com/a", title: "A" },
  ],
  otherVendor: [
    { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "sig" } } },
    { type: "reasoning", text: "hm", ...own({ thoughtSignature: "b2xk", signedFrom: 0 }, "gemini-2.5-pro") },
    ...searched((part) => ({ anthropic: { content: [part] } })),
    text("found"),
  ],
});
const historyOf = (name: string): History => {
  const found = HISTORIES.find((history) => history.name === name);
  if (found === undefined) throw new Error(`no history ${name}`);
  return found;
};

const servers: ReplayServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const ANSWER = 'data: {"candidates":[{"finishReason":"STOP"}]}\r\n\r\n';

async function send(request: ModelRequest) {
  const server = await serveStream([ANSWER]);
  servers.push(server);
  const provider = await createProvider({
    kind: "google",
    displayName: "Acme",
    apiKey: "key",
    baseUrl: server.url,
    openaiApi: "responses",
  });
  await collect(provider.stream(request, new AbortController().signal));
  const [sent] = server.requests;
  if (sent === undefined) throw new Error("nothing was sent");
  return sent;
}
const bodyOf = async (request: ModelRequest) => (await send(request)).body;
const contentsOf = async (messages: PromptMessage[], more: Partial<ModelRequest> = {}) =>
  (await bodyOf(requestOf({ model: MODEL, messages, ...more }))).contents;

const OPTIONS: [string, Partial<ModelRequest>][] = [
  ["nothing more", {}],
  ["effort", { reasoningEffort: "high" }],
  ["tools that may not be called", { toolChoice: "none" }],
  ["web search", { options: { webSearch: {} } }],
  [
    "all options",
    {
      reasoningEffort: "low",
      toolChoice: "none",
      options: {
        thinkingBudget: 512,
        includeThoughts: false,
        safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
        temperature: 0.3,
        topP: 0.5,
        topK: 40,
        webSearch: {},
      },
    },
  ],
];

describe.each(HISTORIES)("the history $name", ({ request }) => {
  test.each(OPTIONS)("is fit for Gemini with %s", async (_, more) => {
    const body = await bodyOf({ ...request, model: MODEL, ...more });
    expect(googleBodySchema.safeParse(body).error?.issues).toBeUndefined();
  });
});

describe("the schema refuses", () => {
  const message = { role: "user", parts: [{ text: "hi" }] };
  const call = { functionCall: { id: "a", name: "execute", args: {} }, thoughtSignature: "s" };
  const response = { functionResponse: { id: "a", name: "execute", response: { output: 1 } } };
  const generationConfig = { maxOutputTokens: 9 };
  test.each([
    ["an unknown key", { contents: [message], generationConfig, extra: 1 }],
    ["blank text", { contents: [{ role: "user", parts: [{ text: " " }] }], generationConfig }],
    ["two turns of one role", { contents: [message, message], generationConfig }],
    [
      "the model's turn first",
      { contents: [{ role: "model", parts: [{ text: "a" }] }, message], generationConfig },
    ],
    [
      "a call without its answer",
      { contents: [message, { role: "model", parts: [call] }, message], generationConfig },
    ],
    [
      "an answer to another call",
      {
        contents: [
          message,
          { role: "model", parts: [call] },
          { role: "user", parts: [{ functionResponse: { ...response.functionResponse, name: "other" } }] },
        ],
        generationConfig,
      },
    ],
    [
      "an unsigned first call",
      {
        contents: [
          message,
          { role: "model", parts: [{ functionCall: call.functionCall }] },
          { role: "user", parts: [response] },
        ],
        generationConfig,
      },
    ],
  ])("%s", (_, body) => {
    expect(googleBodySchema.safeParse(body).success).toBe(false);
  });
});

test("the address names the model and the key travels in a header", async () => {
  const { path, headers, method } = await send(
    requestOf({ model: MODEL, headers: { "Parley-Chat-Id": "chat-1" } }),
  );
  expect([method, path, headers["x-goog-api-key"], headers["parley-chat-id"]]).toEqual([
    "POST",
    `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
    "key",
    "chat-1",
  ]);
});

test("thoughts, calls and their signatures go back part by part", async () => {
  const { request } = historyOf("an interrupted step");
  expect((await bodyOf({ ...request, model: MODEL })).contents).toEqual([
    { role: "user", parts: [{ text: "go" }] },
    {
      role: "model",
      parts: [
        { text: "think", thought: true, thoughtSignature: "dGhvdWdodA==" },
        { text: "", thoughtSignature: "aGlkZGVu" },
        { text: "First" },
        { functionCall: { id: "a", name: "execute", args: { command: "ls" } }, thoughtSignature: SENTINEL },
        { functionCall: { id: "b", name: "execute", args: { command: "make" } } },
      ],
    },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "a",
            name: "execute",
            response: { output: { output: "src", exitCode: 0 } },
          },
        },
        {
          functionResponse: {
            id: "b",
            name: "execute",
            response: { error: "The tool call was interrupted before it had a result." },
          },
        },
        { text: "stop that" },
      ],
    },
  ]);
});

test("a search goes back word for word while search is on, and is left out otherwise", async () => {
  const { request } = historyOf("a web search");
  const signedText = [{ text: "because" }, { text: "", thoughtSignature: "ZW5k" }];
  const modelTurn = async (options?: JsonObject) => {
    const { contents } = await bodyOf({ ...request, model: MODEL, ...(options ? { options } : {}) });
    return Array.isArray(contents) ? contents[1] : undefined;
  };
  expect([await modelTurn({ webSearch: {} }), await modelTurn()]).toEqual([
    { role: "model", parts: [CALL, RESPONSE, ...signedText] },
    { role: "model", parts: signedText },
  ]);
});

test("another vendor's answers, blank words and broken ones", async () => {
  const { request } = historyOf("failed tools, blank parts, another vendor's answers and words in between");
  expect((await bodyOf({ ...request, model: MODEL })).contents).toEqual([
    { role: "user", parts: [{ text: "(The conversation continues.)" }] },
    { role: "model", parts: [{ text: "Welcome." }] },
    { role: "user", parts: [{ text: "go" }] },
    {
      role: "model",
      parts: [
        { text: "found" },
        {
          functionCall: { id: "a", name: "execute", args: { command: "false" } },
          thoughtSignature: SENTINEL,
        },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "a", name: "execute", response: { error: "no such file" } } },
        { text: "half \ufffd a pair" },
        { text: "again" },
      ],
    },
  ]);
});

test("files that the models take go as they are, text as text, the rest as a word about it", async () => {
  const file = (fileId: string, mediaType: string): FilePart => ({
    type: "file",
    fileId,
    name: fileId,
    mediaType,
    sizeBytes: 3,
  });
  const files = new Map<string, Uint8Array>([
    ["p", PNG],
    ["d", PDF],
    ["a", Buffer.from("abc")],
    ["g", Buffer.from("GIF")],
    ["t", Buffer.from("ü\n")],
  ]);
  const parts = [
    file("p", "image/PNG"),
    file("d", "application/pdf"),
    file("a", "audio/mpeg"),
    file("g", "image/gif"),
    file("t", "text/plain"),
    file("gone", "image/png"),
  ];
  expect(await contentsOf([user(...parts)], { files })).toEqual([
    {
      role: "user",
      parts: [
        { inlineData: { mimeType: "image/png", data: PNG.toString("base64") } },
        { inlineData: { mimeType: "application/pdf", data: PDF.toString("base64") } },
        { inlineData: { mimeType: "audio/mpeg", data: "YWJj" } },
        { text: "[file g (image/gif, 3 bytes) cannot be shown to this model]" },
        { text: "[file] t\n```\nü\n```" },
        { text: "[file gone (image/png, 3 bytes) is not available]" },
      ],
    },
  ]);
});

test("halves of characters inside arguments and results are mended", async () => {
  const broken = { "\ud800": ["\udc00", { deep: "ok \ud83d" }] };
  const ids = { toolCallId: "a", toolName: "execute" };
  expect(
    await contentsOf([
      user(text("go")),
      assistant({ type: "tool-call", ...ids, arguments: broken }),
      tool({ type: "tool-result", ...ids, result: broken, isError: false }),
    ]),
  ).toMatchObject([
    {},
    { parts: [{ functionCall: { args: { "\ufffd": ["\ufffd", { deep: "ok \ufffd" }] } } }] },
    {
      parts: [
        { functionResponse: { response: { output: { "\ufffd": ["\ufffd", { deep: "ok \ufffd" }] } } } },
      ],
    },
  ]);
});

test("what a model signed is not shown to another one, and older ones need no stand-in", async () => {
  const signedCall: PromptPart = {
    type: "tool-call",
    toolCallId: "a",
    toolName: "execute",
    arguments: {},
    ...own({ thoughtSignature: "c2ln" }),
  };
  const result: PromptPart = {
    type: "tool-result",
    toolCallId: "a",
    toolName: "execute",
    result: "",
    isError: false,
  };
  const signatureFor = async (model: string) => {
    const contents = await contentsOf([user(text("go")), assistant(signedCall), tool(result)], { model });
    const turns = Array.isArray(contents) ? (contents as { parts: JsonObject[] }[]) : [];
    return turns[1]?.parts[0]?.thoughtSignature;
  };
  expect([
    await signatureFor(MODEL),
    await signatureFor("gemini-3.1-pro-preview"),
    await signatureFor("gemini-flash-latest"),
    await signatureFor("gemini-2.5-pro"),
    await signatureFor("gemma-4-31b-it"),
  ]).toEqual(["c2ln", SENTINEL, SENTINEL, undefined, undefined]);
});

test("a cached prompt replaces system prompt and tools", async () => {
  const { systemInstruction, tools, toolConfig, cachedContent } = await bodyOf(
    requestOf({
      model: MODEL,
      system: "Be brief.",
      tools: TOOLS,
      toolChoice: "none",
      options: { cachedContent: "cachedContents/x" },
    }),
  );
  expect({ systemInstruction, tools, toolConfig, cachedContent }).toEqual({
    cachedContent: "cachedContents/x",
  });
});

test("tools that may not be called stay in the prompt", async () => {
  const body = await bodyOf(requestOf({ model: MODEL, tools: TOOLS, toolChoice: "none" }));
  expect([body.toolConfig, Array.isArray(body.tools) && body.tools.length]).toEqual([
    { functionCallingConfig: { mode: "NONE" } },
    1,
  ]);
});
