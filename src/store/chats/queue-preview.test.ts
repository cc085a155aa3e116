import { expect, test } from "vitest";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { MAX_QUEUE_PREVIEW_BYTES, previewOf } from "./queue-preview.js";

const text = (value: string): MessagePart => ({ type: "text", text: value });
const lines = (path: string, content: string): MessagePart => ({
  ...{ type: "file-reference", path, content },
  ...{ startLine: 1, endLine: 9 },
});
const file: MessagePart = {
  ...{ type: "file", fileId: "f", name: "a.png", mediaType: "image/png", sizeBytes: 1 },
};
const full = "x".repeat(MAX_QUEUE_PREVIEW_BYTES);

test.each<[string, MessagePart[], MessagePart[] | "whole"]>([
  ["a short text", [text("hello")], "whole"],
  ["a text that just fits", [text(full)], "whole"],
  ["nothing but a file", [file], "whole"],
  ["one character too many", [text(`${full}y`)], [text(full)]],
  ["a character that would be split", [text(`${"x".repeat(2_046)}€`)], [text("x".repeat(2_046))]],
  ["a text behind the end", [text(full), text("more"), file], [text(full), file]],
  ["the second of two texts", [text("ab"), text(full)], [text("ab"), text("x".repeat(2_046))]],
  ["lines of a file", [lines("a.ts", full)], [lines("a.ts", "x".repeat(2_044))]],
  ["a path that does not fit", [text("x".repeat(2_045)), lines("a.ts", "")], [text("x".repeat(2_045))]],
])("of %s", (_what, parts, expected) => {
  const cut = { parts: expected, isCut: true };
  expect(previewOf(parts)).toEqual(expected === "whole" ? { parts, isCut: false } : cut);
});
