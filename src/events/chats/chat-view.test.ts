import { describe, expect, test } from "vitest";
import {
  endOfVersion,
  type MessageRow,
  type Position,
  type SavedChange,
} from "../../domain/chats/chat-events.js";
import { initialState } from "../../domain/chats/chat-lifecycle.js";
import type { ChatState } from "../../domain/chats/chat-state.js";
import { ChatView, hasMessageOf, liveGeneration } from "./chat-view.js";

function state(snapshotVersion: number, changes: Partial<ChatState> = {}): ChatState {
  return { ...initialState("A chat"), status: "running", snapshotVersion, ...changes };
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

function changeTo(version: number, changes: Partial<SavedChange> = {}): SavedChange {
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

/** The ids of the messages that a reader with the cursor `after` receives. */
function messagesAfter(view: ChatView, after: Position): string[] {
  return view.itemsAfter(after).flatMap((item) => (item.type === "message" ? [item.message.id] : []));
}

test("large rows are not retained for returning readers: those positions are read from the database", () => {
  const view = viewAt(5);
  const large: MessageRow = { ...row(1, 6), parts: [{ type: "text", text: "x".repeat(600_000) }] };
  view.apply(changeTo(6, { messages: [large] }));
  expect({ version: view.version, isCovered: view.covers(endOfVersion(5)) }).toEqual({
    version: 6,
    isCovered: false,
  });
  view.apply(changeTo(7, { messages: [row(2, 7)] }));
  expect([
    view.covers(endOfVersion(5)),
    view.covers(endOfVersion(6)),
    messagesAfter(view, endOfVersion(6)),
  ]).toEqual([false, true, ["2"]]);
});

describe("a change is applied", () => {
  const cases: [string, SavedChange, { applied: boolean; version: number }][] = [
    ["when it follows", changeTo(6), { applied: true, version: 6 }],
    ["without effect when it is old", changeTo(5), { applied: true, version: 5 }],
    ["never when an earlier one is missing", changeTo(7), { applied: false, version: 5 }],
    ["never when its rows were too large", changeTo(6, { messages: null }), { applied: false, version: 5 }],
    ["never when its queue was too large", changeTo(6, { queue: null }), { applied: false, version: 5 }],
  ];
  test.each(cases)("%s", (_name, change, expected) => {
    const view = viewAt(5);
    expect({ applied: view.apply(change), version: view.version }).toEqual(expected);
  });

  test("and a rewritten row replaces its older version", () => {
    const view = viewAt(5);
    view.apply(changeTo(6, { messages: [row(1, 6), row(2, 6)] }));
    view.apply(changeTo(7, { messages: [row(1, 7)] }));
    expect(messagesAfter(view, endOfVersion(5))).toEqual(["2", "1"]);
    expect(messagesAfter(view, endOfVersion(6))).toEqual(["1"]);
  });
});

describe("memory covers", () => {
  const middleOf = (version: number): Position => ({ version, stage: 0, messageId: 1 });
  const cases: [string, Position, boolean][] = [
    ["the position after the first snapshot", endOfVersion(5), true],
    ["no position before that", endOfVersion(4), false],
    ["no position between the messages of the first version", middleOf(5), false],
    ["a position between the messages of a later version", middleOf(6), true],
    ["the newest position", endOfVersion(7), true],
  ];
  test.each(cases)("%s", (_name, position, expected) => {
    const view = viewAt(5);
    view.apply(changeTo(6, { messages: [row(1, 6), row(2, 6)] }));
    view.apply(changeTo(7, { messages: [row(3, 7)] }));
    expect(view.covers(position)).toBe(expected);
  });

  test("only retained rows: the oldest of many are dropped", () => {
    const view = viewAt(5);
    for (let version = 6; version <= 305; version += 1) {
      view.apply(changeTo(version, { messages: [row(version, version)] }));
    }
    expect([48, 49, 50].map((version) => view.covers(endOfVersion(version)))).toEqual([false, true, true]);
    expect(messagesAfter(view, endOfVersion(49))).toHaveLength(256);
  });

  test("nothing from before an edit", () => {
    const view = viewAt(5);
    view.apply(changeTo(6, { messages: [row(1, 6)] }));
    view.apply(changeTo(7, { state: state(7, { resetVersion: 7 }), messages: [row(2, 7)] }));
    expect([endOfVersion(6), endOfVersion(7)].map((position) => view.covers(position))).toEqual([
      false,
      true,
    ]);
    expect(messagesAfter(view, endOfVersion(5))).toEqual(["2"]);
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
