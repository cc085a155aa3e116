import { describe, expect, test } from "vitest";
import {
  CHAT_SUMMARIZED,
  canSummarize,
  clearingDrafts,
  compactionsInTurn,
  contextOf,
  contextUse,
  type CompactableMessage,
  isNotice,
  measuredContextUse,
  noticeParts,
  summaryDraft,
} from "./compaction.js";
import type { MessageDraft } from "./chat-state.js";
import type { MessageRole } from "./message-parts.js";

type TestMessage = CompactableMessage & { text: string };

function messageOf(role: MessageRole, text: string, more: Partial<TestMessage> = {}): TestMessage {
  return { role, text, parts: [{ type: "text", text }], isSummary: false, ...more };
}

function stored(draft: MessageDraft | undefined): TestMessage {
  const { role, parts, isSummary } = draft ?? summaryDraft("");
  const [part] = parts;
  return { role, parts, isSummary: isSummary ?? false, text: part?.type === "text" ? part.text : "" };
}

const summary = { ...stored(summaryDraft("They talked.")), text: "summary" };
const clearing = { ...stored(clearingDrafts("c1", 5)[0]), text: "cleared" };
const texts = (history: TestMessage[]) => contextOf(history).map(({ text }) => text);

describe("a model sees", () => {
  const cases: [string, TestMessage[], string[]][] = [
    ["everything while nothing is folded", [messageOf("user", "a"), messageOf("assistant", "b")], ["a", "b"]],
    [
      "the summary and what came after it",
      [messageOf("user", "a"), messageOf("assistant", "b"), summary, messageOf("assistant", "c")],
      ["summary", "c"],
    ],
    [
      "user messages without an answer, word for word behind the summary",
      [
        messageOf("user", "a"),
        messageOf("assistant", "b"),
        messageOf("user", "c"),
        messageOf("user", "d"),
        summary,
      ],
      ["summary", "c", "d"],
    ],
    [
      "a first message that was too long for its answer",
      [messageOf("user", "a"), summary, messageOf("assistant", "b")],
      ["summary", "a", "b"],
    ],
    [
      "no message of before an older summary",
      [messageOf("user", "a"), summary, summary, messageOf("user", "b")],
      ["summary", "b"],
    ],
    ["nothing at all of a context that was cleared", [messageOf("user", "a"), clearing], ["cleared"]],
    ["no system message among the others", [messageOf("system", "s"), messageOf("user", "a")], ["a"]],
  ];
  test.each(cases)("%s", (_name, history, expected) => {
    expect(texts(history)).toEqual(expected);
  });
});

test("there is something to summarize once a model has answered since the last boundary", () => {
  expect([
    canSummarize([]),
    canSummarize([messageOf("user", "a")]),
    canSummarize([messageOf("user", "a"), messageOf("assistant", "b")]),
    canSummarize([messageOf("user", "a"), messageOf("assistant", "b"), summary, messageOf("user", "c")]),
    canSummarize([messageOf("assistant", "b"), summary, messageOf("assistant", "c")]),
  ]).toEqual([false, false, true, false, true]);
});

test("summaries are counted from the last user message", () => {
  const history = [
    messageOf("user", "a"),
    summary,
    messageOf("user", "b"),
    summary,
    messageOf("assistant", "c"),
    summary,
  ];
  expect(compactionsInTurn(history)).toBe(2);
});

test("the context use is that of the newest answer since the summary", () => {
  const usage = {
    inputTokens: 1,
    outputTokens: 2,
    reasoningTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const withUsage = messageOf("assistant", "b", { usage });
  expect(contextUse([withUsage])).toBe(3);
  expect(contextUse([withUsage, messageOf("user", "one two three")])).toBe(3 + 4 + 3);
  expect(contextUse([withUsage, summary])).toBe(contextUse([summary]));
  expect(measuredContextUse([withUsage, messageOf("user", "one two three")])).toBe(3 + 4 + 3);
  expect(measuredContextUse([withUsage, summary])).toBeNull();
  expect(measuredContextUse([messageOf("assistant", "four")])).toBeNull();
  expect(contextUse([messageOf("user", "one two three"), messageOf("assistant", "four")])).toBe(
    4 + 3 + 4 + 1,
  );
});

test("a notice is distinguished from an answer by its tool name", () => {
  const content = { arguments: {}, result: null, startedAt: 5, durationMs: 2 };
  expect(isNotice(noticeParts(CHAT_SUMMARIZED, "s1", content))).toBe(true);
  expect(isNotice([{ type: "tool-call", toolName: "execute" }, { type: "text" }])).toBe(false);
});

test("clearing writes a boundary for the model only and a notice for users only", () => {
  expect(
    clearingDrafts("c1", 5).map(({ role, visibility, isSummary }) => ({ role, visibility, isSummary })),
  ).toEqual([
    { role: "user", visibility: "model", isSummary: true },
    { role: "assistant", visibility: "user", isSummary: true },
  ]);
});
