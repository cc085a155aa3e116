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
  noticeParts,
  summaryDraft,
} from "./compaction.js";
import type { MessageDraft } from "./chat-state.js";
import type { MessageRole } from "./message-parts.js";

type Said = CompactableMessage & { text: string };

function said(role: MessageRole, text: string, more: Partial<Said> = {}): Said {
  return { role, text, parts: [{ type: "text", text }], isSummary: false, ...more };
}

function stored(draft: MessageDraft | undefined): Said {
  const { role, parts, isSummary } = draft ?? summaryDraft("");
  const [part] = parts;
  return { role, parts, isSummary: isSummary ?? false, text: part?.type === "text" ? part.text : "" };
}

const summary = { ...stored(summaryDraft("They talked.")), text: "summary" };
const clearing = { ...stored(clearingDrafts("c1", 5)[0]), text: "cleared" };
const texts = (history: Said[]) => contextOf(history).map(({ text }) => text);

describe("a model sees", () => {
  const cases: [string, Said[], string[]][] = [
    ["everything while nothing is folded", [said("user", "a"), said("assistant", "b")], ["a", "b"]],
    [
      "the summary and what came after it",
      [said("user", "a"), said("assistant", "b"), summary, said("assistant", "c")],
      ["summary", "c"],
    ],
    [
      "what people said last without an answer, word for word behind the summary",
      [said("user", "a"), said("assistant", "b"), said("user", "c"), said("user", "d"), summary],
      ["summary", "c", "d"],
    ],
    [
      "a first message that was too long for its answer",
      [said("user", "a"), summary, said("assistant", "b")],
      ["summary", "a", "b"],
    ],
    [
      "no message of before an older summary",
      [said("user", "a"), summary, summary, said("user", "b")],
      ["summary", "b"],
    ],
    ["nothing at all of a context that was cleared", [said("user", "a"), clearing], ["cleared"]],
    ["no system message among the others", [said("system", "s"), said("user", "a")], ["a"]],
  ];
  test.each(cases)("%s", (_name, history, expected) => {
    expect(texts(history)).toEqual(expected);
  });
});

test("there is something to summarise once a model has answered since the last boundary", () => {
  expect([
    canSummarize([]),
    canSummarize([said("user", "a")]),
    canSummarize([said("user", "a"), said("assistant", "b")]),
    canSummarize([said("user", "a"), said("assistant", "b"), summary, said("user", "c")]),
    canSummarize([said("assistant", "b"), summary, said("assistant", "c")]),
  ]).toEqual([false, false, true, false, true]);
});

test("summaries count from the last thing that a person said", () => {
  const history = [said("user", "a"), summary, said("user", "b"), summary, said("assistant", "c"), summary];
  expect(compactionsInTurn(history)).toBe(2);
});

test("the context is as full as the newest answer since the summary says", () => {
  const usage = {
    inputTokens: 1,
    outputTokens: 2,
    reasoningTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const told = said("assistant", "b", { usage });
  expect(contextUse([told])).toBe(3);
  expect(contextUse([told, said("user", "one two three")])).toBe(3 + 4 + 3);
  expect(contextUse([told, summary])).toBe(contextUse([summary]));
  expect(contextUse([said("user", "one two three"), said("assistant", "four")])).toBe(4 + 3 + 4 + 1);
});

test("a notice is told from an answer by the tool that it names", () => {
  const said = { arguments: {}, result: null, startedAt: 5, durationMs: 2 };
  expect(isNotice(noticeParts(CHAT_SUMMARIZED, "s1", said))).toBe(true);
  expect(isNotice([{ type: "tool-call", toolName: "execute" }, { type: "text" }])).toBe(false);
});

test("clearing writes a boundary for the model alone and a notice for people alone", () => {
  expect(
    clearingDrafts("c1", 5).map(({ role, visibility, isSummary }) => ({ role, visibility, isSummary })),
  ).toEqual([
    { role: "user", visibility: "model", isSummary: true },
    { role: "assistant", visibility: "user", isSummary: true },
  ]);
});
