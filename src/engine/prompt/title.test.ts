import { describe, expect, test } from "vitest";
import type { MessageRow } from "../../domain/chats/chat-events.js";
import type { MessagePart } from "../../domain/chats/message-parts.js";
import { conversationPrompt, firstMessagePrompt, proposedTitle } from "./title.js";

const text = (value: string): MessagePart => ({ type: "text", text: value });

function row(role: MessageRow["role"], words: string, changes: Partial<MessageRow> = {}): MessageRow {
  return {
    id: "1",
    chatId: "chat",
    role,
    visibility: "both",
    parts: [text(words)],
    authorId: null,
    modelConfigId: null,
    reasoningEffort: null,
    mcpServerIds: null,
    usage: null,
    costMicros: null,
    runtimeMs: null,
    generation: null,
    finishReason: null,
    responseId: null,
    isSummary: false,
    revision: 1,
    createdAt: 0,
    ...changes,
  };
}

describe("a chat's first message", () => {
  const between = (prompt: { text: string } | null) =>
    /<message>\n(.*)\n<\/message>/s.exec(prompt?.text ?? "")?.[1];

  test.each<[string, MessagePart[], string | undefined]>([
    ["is shown trimmed", [text(" Fix it "), text("please")], "Fix it\nplease"],
    ["without text is described by its files", [file("a.png"), reference("src/b.ts")], "a.png\nsrc/b.ts"],
    ["has no file names when there is text", [text("Fix it"), reference("src/b.ts")], "Fix it"],
    ["without text and files gets no prompt", [text("  ")], undefined],
    ["is shown from its beginning", [text("🦜".repeat(5_000))], `${"🦜".repeat(3_999)}…`],
  ])("%s", (_name, parts, shown) => {
    expect(between(firstMessagePrompt(parts))).toBe(shown);
  });

  function file(name: string): MessagePart {
    return { type: "file", fileId: "f", name, mediaType: "image/png", sizeBytes: 1 };
  }
  function reference(path: string): MessagePart {
    return { type: "file-reference", path, startLine: 1, endLine: 2, content: "secret" };
  }
});

describe("a conversation", () => {
  const shownOf = (messages: MessageRow[], isWhole = true) =>
    conversationPrompt(messages, isWhole)?.text.replace(/^[^\n]*\n\n/, "");

  test("of one message is that message", () => {
    expect(shownOf([row("user", "Fix it")])).toBe("<conversation>\n[user]: Fix it\n</conversation>");
  });

  test("is its first turn, its last three and the user's latest message", () => {
    const messages = [
      row("assistant", "a greeting"),
      ...[1, 2, 3].flatMap((index) => [row("user", `ask ${index}`), row("assistant", `answer ${index}`)]),
    ];
    expect(shownOf(messages)).toBe(
      "<conversation>\n[user]: ask 1\n[2 earlier turns omitted]\n[assistant]: answer 2\n[user]: ask 3\n" +
        "[assistant]: answer 3\n</conversation>\n\nThe user's latest message:\n\n<latest>\nask 3\n</latest>",
    );
  });

  test("says so when even more was left out", () => {
    const messages = [
      row("user", "ask"),
      row("assistant", "a"),
      row("assistant", "b"),
      row("assistant", "c"),
    ];
    expect(shownOf(messages, false)).toBe(
      "<conversation>\n[user]: ask\n[more than 0 earlier turns omitted]\n[assistant]: a\n[assistant]: b\n[assistant]: c\n</conversation>",
    );
  });

  test("has only text of users and the model", () => {
    const messages = [
      row("system", "rules"),
      row("user", "hidden", { visibility: "model" }),
      row("user", "the talk so far", { isSummary: true }),
      row("user", "ask"),
      row("assistant", ""),
      row("tool", "result"),
      row("assistant", "notice", { visibility: "user" }),
    ];
    expect(shownOf(messages)).toBe("<conversation>\n[user]: ask\n[assistant]: notice\n</conversation>");
  });

  test("without text of a user gets no prompt", () => {
    expect(shownOf([row("assistant", "Hello")])).toBeUndefined();
  });

  test("stays small however long its turns are", () => {
    const messages = Array.from({ length: 9 }, (_, index) =>
      row(index % 2 ? "assistant" : "user", "🦜".repeat(9_000)),
    );
    const prompt = conversationPrompt(messages, true);
    expect(Array.from(prompt?.text ?? "").length).toBeLessThan(7_400);
  });
});

describe("a model's answer", () => {
  const call = (args: Record<string, string | number>, toolName = "propose_title"): MessagePart => {
    return { type: "tool-call", toolCallId: "a", toolName, arguments: args };
  };

  test.each<[string, MessagePart[], string]>([
    ["names it through the tool", [text("Here:"), call({ title: "Fix the login" })], "Fix the login"],
    ["names it in text", [text("Fix the login")], "Fix the login"],
    ["names it in text when the call is empty", [text("Fix the login"), call({})], "Fix the login"],
    [
      "is not taken from another tool or another type",
      [call({ title: "x" }, "other"), call({ title: 1 })],
      "",
    ],
    [
      "names it in a call written as text",
      [text('{"name":"propose_title","arguments":{"title":"Fix it"}}')],
      "Fix it",
    ],
    ["is empty", [{ type: "reasoning", text: "Hm" }], ""],
  ])("%s", (_name, parts, expected) => {
    expect(proposedTitle(parts)).toBe(expected);
  });
});
