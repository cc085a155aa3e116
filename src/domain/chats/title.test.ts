import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MessagePart } from "./message-parts.js";
import { isGoodTitle, normaliseTitle, titleFrom } from "./title.js";

const text = (value: string): MessagePart => ({ type: "text", text: value });
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

describe("a model's title", () => {
  test.each([
    ["stays as it is", "Fix the flaky login test", "Fix the flaky login test"],
    ["loses its quotes", '"Fix the login"', "Fix the login"],
    ["loses curly quotes and the full stop inside them", "“Fix the login.”", "Fix the login"],
    ["loses the full stop outside its quotes", '"Fix the login".', "Fix the login"],
    ["loses Markdown", "**Fix the `login`**", "Fix the `login"],
    ["loses a heading", "## Fix the login", "Fix the login"],
    ["loses the word Title", 'Title: "Fix the login"', "Fix the login"],
    ["keeps the word title inside", "Give each page a title: how", "Give each page a title: how"],
    ["keeps dots that mean more to come", "And so on...", "And so on..."],
    ["keeps an apostrophe inside", "Don't log the user's key", "Don't log the user's key"],
    ["keeps its last question mark", "Why is login slow?", "Why is login slow?"],
    ["becomes one line", "Fix\n\tthe\u0000 login ", "Fix the login"],
    ["is cut at eighty characters", "x".repeat(100), `${"x".repeat(79)}…`],
    ["may be nothing at all", ' "." ', ""],
  ])("%s", (_name, text, expected) => {
    expect(normaliseTitle(text)).toBe(expected);
  });

  test("is unchanged when normalized again, and never longer than eighty characters", () => {
    const fragments = fc.array(
      fc.constantFrom('"', ".", " ", "#", "*", "a", "Title:", "…", "🦜".repeat(30), "\u0000"),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fragments.map((words) => words.join("")),
        ),
        (text) => {
          const once = normaliseTitle(text);
          expect([normaliseTitle(once), Array.from(once).length <= 80]).toEqual([once, true]);
        },
      ),
    );
  });

  test.each([
    ["Fix login", true],
    ["one two three four five six seven eight", true],
    ["one two three four five six seven eight nine", false],
    ["Login", false],
    ["", false],
    ["Fix — !", false],
    ["修复登录页面的错误", true],
    ["修".repeat(41), false],
  ])("%j is good: %j", (title, isGood) => {
    expect(isGoodTitle(title)).toBe(isGood);
  });
});
