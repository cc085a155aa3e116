import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PromptPart } from "../../domain/chats/message-parts.js";
import type { PromptMessage } from "../../providers/types.js";
import { repairPrompt } from "./repair.js";
import { summaryMessages } from "./summary.js";

function message(role: PromptMessage["role"], ...parts: PromptPart[]): PromptMessage {
  return { role, parts };
}
const text = (value: string): PromptPart => ({ type: "text", text: value });
const call = (toolCallId: string): PromptPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "read_file",
  arguments: { path: "a" },
});
const result = (toolCallId: string, words: string): PromptPart => ({
  type: "tool-result",
  toolCallId,
  toolName: "read_file",
  result: { content: words },
  isError: false,
});

const conversation = [
  message("user", text("Look at a.")),
  message("assistant", text("I do."), call("c1")),
  message("tool", result("c1", "short")),
  message("assistant", text("Done.")),
];

const sizeOf = (messages: PromptMessage[]) => JSON.stringify(messages.map(({ parts }) => parts)).length;

test("a conversation that fits is sent whole, with the request as the last user message", () => {
  const messages = summaryMessages(conversation, { contextLimit: 100_000, level: 0 });
  expect(messages.slice(0, -1)).toEqual(conversation);
  expect(messages.at(-1)).toEqual(
    message("user", text(expect.stringContaining("Summarise this conversation"))),
  );
});

describe("a conversation that is too long", () => {
  const long = [
    ...Array.from({ length: 20 }, (_, index) => message("user", text(`${index} ${"old ".repeat(500)}`))),
    message("assistant", text("I look."), call("c1")),
    message("tool", result("c1", "x".repeat(50_000))),
    message("assistant", text("The newest answer.")),
  ];

  test("loses the middle of long texts and its oldest messages, and says so", () => {
    const messages = summaryMessages(long, { contextLimit: 5_000, level: 0 });
    expect(messages[0]).toEqual(message("user", text(expect.stringContaining("left out"))));
    expect(JSON.stringify(messages)).toContain("bytes left out");
    expect(JSON.stringify(messages.at(-2))).toContain("The newest answer.");
    expect(sizeOf(messages)).toBeLessThan(5_000 * 3 + 3_000);
  });

  test("gets shorter with each refusal, even without a known limit", () => {
    const sizes = [0, 1, 2, 3].map((level) => sizeOf(summaryMessages(long, { contextLimit: null, level })));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(sizes[3]).toBeLessThan((sizes[0] ?? 0) / 4);
  });

  test("never loses a call without its result or a result without its call", () => {
    const part = fc.constantFrom("user", "pair", "answer");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), fc.integer({ min: 0, max: 4 }), (shape, level) => {
        const messages = shape.flatMap((kind, index): PromptMessage[] => {
          if (kind === "user") return [message("user", text(`${index} ${"word ".repeat(300)}`))];
          if (kind === "answer") return [message("assistant", text(`${index} ${"word ".repeat(300)}`))];
          return [
            message("assistant", call(`c${index}`)),
            message("tool", result(`c${index}`, "y".repeat(2_000))),
          ];
        });
        const sent = summaryMessages(repairPrompt(messages), { contextLimit: 3_000, level });
        expect(repairPrompt(sent)).toEqual(sent);
      }),
    );
  });
});
