import { expect, test } from "vitest";
import type { MessagePart } from "./message-parts.js";
import { titleFrom } from "./title.js";

const text = (words: string): MessagePart => ({ type: "text", text: words });
const file: MessagePart = {
  type: "file-reference",
  path: "a.ts",
  startLine: 1,
  endLine: 2,
  content: "secret",
};

test.each<[string, MessagePart[], string]>([
  ["few words are the title", [text("Fix the login")], "Fix the login"],
  ["six words are still whole", [text("one two three four five six")], "one two three four five six"],
  [
    "of more words the first six",
    [text("one two three four five six seven")],
    "one two three four five six…",
  ],
  ["white space of any kind is one blank", [text("  Fix\n\n\tthe  login ")], "Fix the login"],
  ["words of several parts are read together", [text("Fix"), file, text("the login")], "Fix the login"],
  ["a zero, which PostgreSQL cannot keep, parts words", [text("Fix\u0000it")], "Fix it"],
  ["no words at all", [text(" \n ")], "New chat"],
  ["no text at all", [file], "New chat"],
  ["nothing", [], "New chat"],
  ["eighty characters are whole", [text("x".repeat(80))], "x".repeat(80)],
  ["a longer word is cut", [text("x".repeat(81))], `${"x".repeat(79)}…`],
  ["no character is cut in half", [text("🦜".repeat(81))], `${"🦜".repeat(79)}…`],
])("%s", (_name, parts, expected) => {
  expect(titleFrom(parts)).toBe(expected);
});
