import { expect, test } from "vitest";
import { isEnvelope, MalformedContent, partsOfVersion0 } from "./content-versions.js";
import type { MessagePart, MessageRole } from "./message-parts.js";

const FILE_ID = "0b8f3c52-0d6f-4c55-9d8e-0b4cf7a8a111";

/** One of every kind, each field filled; a new kind of part does not compile until it is here. */
const everyPart: { [Type in MessagePart["type"]]: Required<Extract<MessagePart, { type: Type }>> } = {
  text: { type: "text", text: "Hello.", providerMetadata: { openai: { itemId: "m1" } } },
  reasoning: {
    type: "reasoning",
    text: "Hm.",
    isRedacted: true,
    providerMetadata: { anthropic: { redactedData: "xyz" } },
  },
  "tool-call": {
    type: "tool-call",
    toolCallId: "c1",
    toolName: "read_file",
    arguments: { path: "a", data: { nested: true } },
    isProviderExecuted: true,
    isCut: true,
    mcpServerId: FILE_ID,
    startedAt: 5,
    providerMetadata: { openai: { itemId: "f1" } },
  },
  "tool-result": {
    type: "tool-result",
    toolCallId: "c1",
    toolName: "read_file",
    result: { type: "text", data: { text: "not an envelope" } },
    isError: true,
    files: [{ fileId: FILE_ID, name: "a.png", mediaType: "image/png", sizeBytes: 12 }],
    startedAt: 5,
    durationMs: 2,
    isProviderExecuted: true,
    providerMetadata: { anthropic: { content: [{ url: "https://x.test" }] } },
  },
  source: { type: "source", url: "https://x.test", title: "X" },
  "file-reference": { type: "file-reference", path: "a.ts", startLine: 1, endLine: 2, content: "x" },
  file: { type: "file", fileId: FILE_ID, name: "a.png", mediaType: "image/png", sizeBytes: 12 },
  notice: { type: "notice", level: "warning", text: "It is away.", mcpServerId: FILE_ID },
};

test.each(Object.values(everyPart))(
  "a $type part of version 1 is never mistaken for an envelope of version 0",
  (part) => {
    expect(isEnvelope(part)).toBe(false);
    const roles: MessageRole[] = ["system", "user", "assistant", "tool"];
    expect(roles.map((role) => partsOfVersion0(role, [part]))).toEqual(roles.map(() => [part]));
  },
);

const text = (value: string): MessagePart => ({ type: "text", text: value });

test.each<[string, MessageRole, unknown, MessagePart[]]>([
  ["a bare text of the system", "system", "Be kind.", [text("Be kind.")]],
  ["a bare text of a user", "user", "Hello \uE000\uE001", [text("Hello \uE000\uE001")]],
  ["nothing", "assistant", null, []],
  ["an empty list", "tool", [], []],
  ["an empty text", "user", " \n", []],
  ["an envelope of a user", "user", [{ type: "text", data: { text: "Look" } }], [text("Look")]],
  [
    "files of a user, by reference and inline",
    "user",
    [
      { type: "file", data: { media_type: "image/png", file_id: FILE_ID } },
      { type: "file", data: { media_type: "image/png", data: "aGVsbG8=" } },
      { type: "file", media_type: "text/plain", data: "aGVsbG8=" },
    ],
    [
      { type: "file", fileId: FILE_ID, name: "file", mediaType: "image/png", sizeBytes: 0 },
      text("[A file was here: image/png. It was not stored.]"),
      text("[A file was here: text/plain. It was not stored.]"),
    ],
  ],
  [
    "parts in snake_case",
    "user",
    [
      { type: "text", text: "See" },
      { type: "file-reference", file_name: "a.ts", start_line: 3, end_line: 4, content: "x" },
      { type: "context-file", context_file_path: "/AGENTS.md" },
      { type: "skill", skill_name: "deploy" },
    ],
    [text("See"), { type: "file-reference", path: "a.ts", startLine: 3, endLine: 4, content: "x" }],
  ],
  [
    "an answer in envelopes, with what the vendor wants back",
    "assistant",
    [
      {
        type: "reasoning",
        data: {
          text: "Hm.",
          provider_metadata: {
            anthropic: {
              type: "anthropic.reasoning_metadata",
              data: { signature: "sig", redacted_data: "" },
            },
          },
        },
      },
      {
        type: "reasoning",
        data: {
          text: "",
          provider_metadata: {
            anthropic: { type: "anthropic.reasoning_metadata", data: { redacted_data: "r" } },
          },
        },
      },
      {
        type: "reasoning",
        data: {
          text: "So.",
          provider_metadata: {
            openai: {
              type: "openai.responses",
              data: { item_id: "rs_1", encrypted_content: "enc", summary: [] },
            },
          },
        },
      },
      { type: "text", data: { text: "I look." } },
      { type: "source", data: { source_type: "url", id: "s", url: "https://x.test", title: "X" } },
      { type: "source", data: { source_type: "document", id: "s", url: "" } },
      {
        type: "tool-call",
        data: { tool_call_id: "c1", tool_name: "read_file", input: '{"path":"a"}', provider_executed: false },
      },
      { type: "tool-call", data: { tool_call_id: "c2", tool_name: "read_file", input: "{ nonsense" } },
      {
        type: "tool-call",
        data: { tool_call_id: "c3", tool_name: "web_search", input: "", provider_executed: true },
      },
      {
        type: "tool-result",
        data: {
          tool_call_id: "c3",
          tool_name: "web_search",
          result: { type: "text", data: { text: '{"pages":1}' } },
          provider_executed: true,
        },
      },
    ],
    [
      { type: "reasoning", text: "Hm.", providerMetadata: { anthropic: { signature: "sig" } } },
      {
        type: "reasoning",
        text: "",
        isRedacted: true,
        providerMetadata: { anthropic: { redactedData: "r" } },
      },
      {
        type: "reasoning",
        text: "So.",
        providerMetadata: { openai: { itemId: "rs_1", encryptedContent: "enc" } },
      },
      text("I look."),
      { type: "source", url: "https://x.test", title: "X" },
      { type: "tool-call", toolCallId: "c1", toolName: "read_file", arguments: { path: "a" } },
      { type: "tool-call", toolCallId: "c2", toolName: "read_file", arguments: {} },
      {
        type: "tool-call",
        toolCallId: "c3",
        toolName: "web_search",
        arguments: {},
        isProviderExecuted: true,
      },
      {
        type: "tool-result",
        toolCallId: "c3",
        toolName: "web_search",
        result: { pages: 1 },
        isError: false,
        isProviderExecuted: true,
      },
    ],
  ],
  [
    "result rows",
    "tool",
    [
      { tool_call_id: "c1", tool_name: "read_file", result: { content: "x" } },
      { tool_call_id: "c2", tool_name: "read_file", result: { error: "no" }, is_error: true },
      { tool_call_id: "c3", tool_name: "read_file", result: { type: "text", data: { text: "its own" } } },
    ],
    [
      {
        type: "tool-result",
        toolCallId: "c1",
        toolName: "read_file",
        result: { content: "x" },
        isError: false,
      },
      {
        type: "tool-result",
        toolCallId: "c2",
        toolName: "read_file",
        result: { error: "no" },
        isError: true,
      },
      {
        type: "tool-result",
        toolCallId: "c3",
        toolName: "read_file",
        result: { type: "text", data: { text: "its own" } },
        isError: false,
      },
    ],
  ],
  [
    "results in envelopes, good and bad",
    "tool",
    [
      { type: "tool-result", data: { tool_call_id: "c", result: { type: "error", data: { error: "no" } } } },
      { type: "tool-result", data: { tool_call_id: "d", result: { type: "text", data: { text: "words" } } } },
    ],
    [
      { type: "tool-result", toolCallId: "c", toolName: "", result: { error: "no" }, isError: true },
      { type: "tool-result", toolCallId: "d", toolName: "", result: "words", isError: false },
    ],
  ],
])("version 0 is readable: %s", (_case, role, content, parts) => {
  expect(partsOfVersion0(role, content)).toEqual(parts);
});

test.each<[MessageRole, unknown, string]>([
  ["assistant", "a bare text", "it is a bare text"],
  ["tool", "a bare text", "it is a bare text"],
  ["user", { type: "text", text: "alone" }, "it is an object, not a list"],
  ["system", 7, "it is a number, not a list"],
  ["user", ["a"], "block 0 is a string, not an object"],
  ["assistant", [{ type: "text", data: { text: "a" } }, {}], "block 1 has no type"],
  ["assistant", [{ tool_call_id: "c", result: 1 }], "block 0 has no type"],
  ["assistant", [{ type: "dream", data: {} }], 'block 0 has the unknown type "dream"'],
  ["user", [{ type: "text", text: 5 }], "block 0 has a text that is a number, not text"],
  ["user", [{ type: "file", data: { file_id: "../../etc" } }], "block 0 has a file_id that is no UUID"],
])("malformed content of the role %s is refused by name: %j", (role, content, reason) => {
  let error: unknown;
  try {
    partsOfVersion0(role, content);
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(MalformedContent);
  expect(error).toMatchObject({
    role,
    message: `The content of a stored ${role} message is malformed: ${reason}.`,
  });
});
