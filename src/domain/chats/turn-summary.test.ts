import fc from "fast-check";
import { expect, test } from "vitest";
import type { MessagePart } from "./message-parts.js";
import { MAX_SUMMARY_CHARACTERS, turnSummary } from "./turn-summary.js";

const text = (value: string): MessagePart => ({ type: "text", text: value });
const call: MessagePart = { type: "tool-call", toolCallId: "a", toolName: "execute", arguments: {} };
const thought: MessagePart = { type: "reasoning", text: "Hm." };

test.each<[string, MessagePart[], string]>([
  ["a short answer is its own summary", [text("All tests pass.")], "All tests pass."],
  ["thoughts and calls say nothing", [thought, call], ""],
  ["an empty message says nothing", [], ""],
  ["blank text says nothing", [text(" \n\t ")], ""],
  ["text behind thoughts and calls is found", [thought, call, text("Done.")], "Done."],
  ["only the first line counts", [text("Fixed it.\nHere is how:")], "Fixed it."],
  ["a heading is plain", [text("## What I *did*\n\nMuch.")], "What I did"],
  ["a rule is no line", [text("---\n\nFixed.")], "Fixed."],
  [
    "lists, quotes and boxes are plain",
    [text("> - [x] **Done** with `a_b` and ~~c~~")],
    "Done with a_b and c",
  ],
  [
    "links keep their words",
    [text('See [the docs](https://a.b/c_(d) "t") and ![x](y.png)')],
    "See the docs and x",
  ],
  ["code blocks are passed over", [text("```ts\nlet secret = 1;\n```\nThat is it.")], "That is it."],
  ["an unfinished code block is passed over", [text("```\nlet secret = 1;")], ""],
  [
    "names with underscores stay",
    [text("Renamed snake_case_name in __init__.py")],
    "Renamed snake_case_name in __init__.py",
  ],
  ["sums stay", [text("2 * 3 * 4 is 24")], "2 * 3 * 4 is 24"],
  ["escaped marks are themselves", [text("\\*not bold\\*")], "*not bold*"],
  ["a hundred characters are whole", [text("x".repeat(100))], "x".repeat(100)],
  ["a longer word is cut", [text("x".repeat(101))], `${"x".repeat(99)}…`],
  ["a longer line is cut behind a word", [text("word ".repeat(30))], `${"word ".repeat(19).trim()} word…`],
  [
    "no punctuation is left before the dots",
    [text(`${"x".repeat(60)}, ${"y".repeat(60)}`)],
    `${"x".repeat(60)}…`,
  ],
  ["no character is cut in half", [text("🦜".repeat(101))], `${"🦜".repeat(99)}…`],
])("%s", (_name, parts, expected) => {
  expect(turnSummary(parts)).toBe(expected);
});

test("whatever a model says, its summary is one line of at most a hundred characters", () => {
  const marks = fc.constantFrom(
    "*",
    "_",
    "`",
    "```",
    "\n",
    " ",
    "[",
    "](",
    ")",
    "#",
    ">",
    "~~",
    "a",
    "🦜",
    "\\",
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(marks, { maxLength: 400 }).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(texts, (words) => {
      const summary = turnSummary([text(words)]);
      expect([Array.from(summary).length <= MAX_SUMMARY_CHARACTERS, /[\n\r\t\u0000]/.test(summary)]).toEqual([
        true,
        false,
      ]);
    }),
  );
});

test("a megabyte of marks is read at once", () => {
  for (const mark of ["*", "`", "[", "_", "> ", "~~", "![](", "```\n", "<!--", "\\"]) {
    expect(turnSummary([text(mark.repeat(300_000))]).length).toBeLessThanOrEqual(MAX_SUMMARY_CHARACTERS);
  }
});
