import { describe, expect, test } from "vitest";
import type { SavedChange } from "./chat-events.js";
import { initialState } from "./chat-lifecycle.js";
import type { ChatState } from "./chat-state.js";
import { compareListIds, type ListChange, listUpdatesOf, readUpdate } from "./list-events.js";

const chatId = "0000000a-0000-4000-8000-000000000000";
/** What the chat's id counts as in a list's weight. */
const OWN = 10;
const state: ChatState = { ...initialState("Title"), snapshotVersion: 5, statusVersion: 3 };
const before = { status: state.status, isArchived: false, titleVersion: 0, diffVersion: 0 };

function news(after: Partial<ChatState>, more: Partial<SavedChange> = {}): SavedChange {
  const next = { ...state, snapshotVersion: 6, ...after };
  return { chatId, ownerId: "ada", previousVersion: 5, before, state: next, messages: [], ...more };
}

const answer = { role: "assistant", visibility: "both" } as NonNullable<SavedChange["messages"]>[number];
const running = { status: "running", statusVersion: 6 } as const;
const waiting = { status: "waiting", statusVersion: 6 } as const;

test.each<[name: string, news: SavedChange, changes: ListChange[], weight: number]>([
  [
    "a new chat is there",
    news({}, { previousVersion: 0, before: undefined }),
    [{ type: "created", chatId }],
    2 * OWN,
  ],
  ["a step of a turn says nothing", news({ historyVersion: 6 }), [], 0],
  [
    "a title is told",
    news({ title: "Other", titleVersion: 6 }),
    [{ type: "title", chatId, title: "Other" }],
    6,
  ],
  [
    "a branch that is shown differently is told",
    news({ diffVersion: 6 }),
    [{ type: "diff-status", chatId }],
    6,
  ],
  [
    "a status is told; what is unread is not known",
    news(running),
    [{ type: "status", chatId, status: "running", isUnread: null }],
    OWN,
  ],
  [
    "a rest with an answer is unread",
    news(waiting, { messages: [answer] }),
    [{ type: "status", chatId, status: "waiting", isUnread: true }],
    -OWN,
  ],
  [
    "an answer for the model alone is not",
    news(waiting, { messages: [{ ...answer, visibility: "model" }] }),
    [{ type: "status", chatId, status: "waiting", isUnread: null }],
    -OWN,
  ],
  [
    "an answer too large to travel may be",
    news(waiting, { messages: null }),
    [{ type: "status", chatId, status: "waiting", isUnread: null }],
    -OWN,
  ],
  [
    "a chat that is put away is gone, whatever else happens to it",
    news({ ...waiting, isArchived: true }),
    [{ type: "removed", chatId, reason: "archived" }],
    7 * OWN,
  ],
  [
    "a chat that is taken out is there again",
    news({}, { before: { ...before, isArchived: true } }),
    [{ type: "created", chatId }],
    -8 * OWN,
  ],
  [
    "a worker that takes a chat found it pending",
    news(running, { before: undefined }),
    [{ type: "status", chatId, status: "running", isUnread: null }],
    OWN,
  ],
  ["what a subagent does is news of no list", news({ ...running, isSubagent: true }), [], 0],
  [
    "a worker that takes over from a dead one changes nothing",
    news({ status: "running" }, { before: undefined }),
    [],
    0,
  ],
])("%s", (_name, saved, changes, weight) => {
  const told = listUpdatesOf(saved);
  expect(told.map(({ change }) => change)).toEqual(changes);
  expect(told.reduce((sum, entry) => sum + entry.checksumDelta, 0)).toBe(weight);
});

describe("of two servers' news", () => {
  const rankOf = (saved: SavedChange) => listUpdatesOf(saved).map(({ subject: about, rank }) => [about, rank]);

  test("that of the later version is the newer, each about its own", () => {
    const both = news({ ...running, title: "Other", titleVersion: 6 });
    expect(rankOf(both)).toEqual([
      [`${chatId} title`, 12],
      [`${chatId} status`, 12],
    ]);
  });

  test("that a chat was read is newer than that it rests, and older than what follows", () => {
    const read = readUpdate({ chatId, ownerId: "ada", status: "waiting", version: 6, markAdvance: 40 });
    expect(read).toEqual({
      change: { type: "status", chatId, status: "waiting", isUnread: false },
      weight: 40,
      about: `${chatId} status`,
      rank: 13,
    });
  });

  test("ids are compared as numbers", () => {
    const ids = ["9-1", "10-2", "10-10", "100-0"];
    expect([...ids].reverse().sort(compareListIds)).toEqual(ids);
    expect(compareListIds("10-2", "10-2")).toBe(0);
  });
});
