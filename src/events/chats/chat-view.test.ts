import { describe, expect, test } from "vitest";
import { endOf, type MessageRow, type Position, type SavedNews } from "../../domain/chats/chat-events.js";
import { createdState } from "../../domain/chats/chat-lifecycle.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { ChatView, hasMessageOf, liveGeneration } from "./chat-view.js";

function state(snapshotVersion: number, changes: Partial<ChatState> = {}): ChatState {
  return { ...createdState("A chat"), status: "running", snapshotVersion, ...changes };
}

function row(id: number, revision: number, generation: string | null = null): MessageRow {
  return {
    id: `${id}`,
    chatId: "chat",
    role: "assistant",
    visibility: "both",
    parts: [{ type: "text", text: `${id}` }],
    authorId: null,
    modelConfigId: null,
    reasoningEffort: null,
    mcpServerIds: null,
    usage: null,
    costMicros: null,
    runtimeMs: null,
    generation,
    finishReason: null,
    responseId: null,
    isSummary: false,
    revision,
    createdAt: 0,
  };
}

function viewAt(version: number): ChatView {
  return new ChatView({ ownerId: "owner", state: state(version), queue: [] });
}

function news(version: number, changes: Partial<SavedNews> = {}): SavedNews {
  const previousVersion = version - 1;
  return {
    chatId: "chat",
    ownerId: "owner",
    previousVersion,
    state: state(version),
    messages: [],
    ...changes,
  };
}

/** The ids of the messages that a reader at `after` is told. */
function messagesAfter(view: ChatView, after: Position): string[] {
  return view.newsAfter(after).flatMap((item) => (item.type === "message" ? [item.message.id] : []));
}

test("large rows are not remembered for those who return: their place is read from the database", () => {
  const view = viewAt(5);
  const large: MessageRow = { ...row(1, 6), parts: [{ type: "text", text: "x".repeat(600_000) }] };
  view.apply(news(6, { messages: [large] }));
  expect({ version: view.version, isCovered: view.covers(endOf(5)) }).toEqual({
    version: 6,
    isCovered: false,
  });
  view.apply(news(7, { messages: [row(2, 7)] }));
  expect([view.covers(endOf(5)), view.covers(endOf(6)), messagesAfter(view, endOf(6))]).toEqual([
    false,
    true,
    ["2"],
  ]);
});

describe("news is applied", () => {
  const cases: [string, SavedNews, { applied: boolean; version: number }][] = [
    ["when it follows", news(6), { applied: true, version: 6 }],
    ["as nothing when it is old", news(5), { applied: true, version: 5 }],
    ["never when something before it is missing", news(7), { applied: false, version: 5 }],
    ["never when its rows were too large", news(6, { messages: null }), { applied: false, version: 5 }],
    ["never when its queue was too large", news(6, { queue: null }), { applied: false, version: 5 }],
  ];
  test.each(cases)("%s", (_name, given, expected) => {
    const view = viewAt(5);
    expect({ applied: view.apply(given), version: view.version }).toEqual(expected);
  });

  test("and a row that is written again takes the place of its older form", () => {
    const view = viewAt(5);
    view.apply(news(6, { messages: [row(1, 6), row(2, 6)] }));
    view.apply(news(7, { messages: [row(1, 7)] }));
    expect(messagesAfter(view, endOf(5))).toEqual(["2", "1"]);
    expect(messagesAfter(view, endOf(6))).toEqual(["1"]);
  });
});

describe("memory covers", () => {
  const middleOf = (version: number): Position => ({ version, stage: 0, messageId: 1 });
  const cases: [string, Position, boolean][] = [
    ["a place after everything that was known from the start", endOf(5), true],
    ["no place before that", endOf(4), false],
    ["no place between the messages of the first version", middleOf(5), false],
    ["a place between the messages of a later version", middleOf(6), true],
    ["the newest place", endOf(7), true],
  ];
  test.each(cases)("%s", (_name, position, expected) => {
    const view = viewAt(5);
    view.apply(news(6, { messages: [row(1, 6), row(2, 6)] }));
    view.apply(news(7, { messages: [row(3, 7)] }));
    expect(view.covers(position)).toBe(expected);
  });

  test("only what it keeps: the oldest of many rows are forgotten", () => {
    const view = viewAt(5);
    for (let version = 6; version <= 305; version += 1) {
      view.apply(news(version, { messages: [row(version, version)] }));
    }
    expect([48, 49, 50].map((version) => view.covers(endOf(version)))).toEqual([false, true, true]);
    expect(messagesAfter(view, endOf(49))).toHaveLength(256);
  });

  test("nothing from before an edit", () => {
    const view = viewAt(5);
    view.apply(news(6, { messages: [row(1, 6)] }));
    view.apply(news(7, { state: state(7, { resetVersion: 7 }), messages: [row(2, 7)] }));
    expect([endOf(6), endOf(7)].map((position) => view.covers(position))).toEqual([false, true]);
    expect(messagesAfter(view, endOf(5))).toEqual(["2"]);
  });
});

describe("the generation that is being written", () => {
  const retry = {
    attempt: 2,
    delayMs: 1,
    retryingAt: 1,
    failure: { kind: "generic" as const, message: "No.", isRetryable: true },
  };
  const cases: [Partial<ChatState>, ReturnType<typeof liveGeneration>][] = [
    [{ status: "running" }, { historyVersion: 4, attempt: 2, startedAt: 700 }],
    [{ status: "interrupting" }, { historyVersion: 4, attempt: 2, startedAt: 700 }],
    [{ status: "running", retry }, null],
    [{ status: "waiting" }, null],
    [{ status: "pending" }, null],
    [{ status: "requires_action" }, null],
    [{ status: "error" }, null],
  ];
  test.each(cases)("of a chat with %j is %j", (changes, expected) => {
    const generation = { historyVersion: 4, attempt: 2, generationStartedAt: 700 };
    expect(liveGeneration(state(9, { ...generation, ...changes }))).toEqual(expected);
  });

  test("has become a message when a row names it", () => {
    const rows = [row(1, 5), row(2, 6, "gen_4_2")];
    expect([1, 2, 3].map((attempt) => hasMessageOf(rows, { historyVersion: 4, attempt }))).toEqual([
      false,
      true,
      false,
    ]);
  });
});
