import { describe, expect, test } from "vitest";
import type { SavedChange } from "./chat-events.js";
import { initialState } from "./chat-lifecycle.js";
import type { ChatState } from "./chat-state.js";
import { compareListIds, type ListChange, listUpdatesOf, readUpdate } from "./list-events.js";

const chatId = "0000000a-0000-4000-8000-000000000000";
/** The chat id's number in the list's checksum. */
const OWN = 10;
const state: ChatState = { ...initialState("Title"), snapshotVersion: 5, statusVersion: 3 };
const before = { status: state.status, isArchived: false, titleVersion: 0, diffVersion: 0 };

function changeOf(after: Partial<ChatState>, more: Partial<SavedChange> = {}): SavedChange {
  const next = { ...state, snapshotVersion: 6, ...after };
  return { chatId, ownerId: "ada", previousVersion: 5, before, state: next, messages: [], ...more };
}

const answer = { role: "assistant", visibility: "both" } as NonNullable<SavedChange["messages"]>[number];
const running = { status: "running", statusVersion: 6 } as const;
const waiting = { status: "waiting", statusVersion: 6 } as const;

test.each<[name: string, saved: SavedChange, changes: ListChange[], checksumDelta: number]>([
  [
    "a new chat is there",
    changeOf({}, { previousVersion: 0, before: undefined }),
    [{ type: "created", chatId }],
    2 * OWN,
  ],
  ["a step of a turn says nothing", changeOf({ historyVersion: 6 }), [], 0],
  [
    "a new title is published",
    changeOf({ title: "Other", titleVersion: 6 }),
    [{ type: "title", chatId, title: "Other" }],
    6,
  ],
  ["a branch status is published", changeOf({ diffVersion: 6 }), [{ type: "diff-status", chatId }], 6],
  [
    "a new status is published; the unread mark is unknown",
    changeOf(running),
    [{ type: "status", chatId, status: "running", isUnread: null }],
    OWN,
  ],
  [
    "a rest with an answer is unread",
    changeOf(waiting, { messages: [answer] }),
    [{ type: "status", chatId, status: "waiting", isUnread: true }],
    -OWN,
  ],
  [
    "an answer for the model alone is not",
    changeOf(waiting, { messages: [{ ...answer, visibility: "model" }] }),
    [{ type: "status", chatId, status: "waiting", isUnread: null }],
    -OWN,
  ],
  [
    "an answer too large to travel may be",
    changeOf(waiting, { messages: null }),
    [{ type: "status", chatId, status: "waiting", isUnread: null }],
    -OWN,
  ],
  [
    "an archived chat is removed, whatever else happens to it",
    changeOf({ ...waiting, isArchived: true }),
    [{ type: "removed", chatId, reason: "archived" }],
    7 * OWN,
  ],
  [
    "a chat that is taken out is there again",
    changeOf({}, { before: { ...before, isArchived: true } }),
    [{ type: "created", chatId }],
    -8 * OWN,
  ],
  [
    "a worker that takes a chat found it pending",
    changeOf(running, { before: undefined }),
    [{ type: "status", chatId, status: "running", isUnread: null }],
    OWN,
  ],
  ["a subagent's changes are in no list", changeOf({ ...running, isSubagent: true }), [], 0],
  [
    "a worker that takes over from a dead one changes nothing",
    changeOf({ status: "running" }, { before: undefined }),
    [],
    0,
  ],
])("%s", (_name, saved, changes, checksumDelta) => {
  const updates = listUpdatesOf(saved);
  expect(updates.map(({ change }) => change)).toEqual(changes);
  expect(updates.reduce((sum, entry) => sum + entry.checksumDelta, 0)).toBe(checksumDelta);
});

describe("of updates from two replicas", () => {
  const rankOf = (saved: SavedChange) => listUpdatesOf(saved).map(({ subject, rank }) => [subject, rank]);

  test("the one with the later version is the newer, per subject", () => {
    const both = changeOf({ ...running, title: "Other", titleVersion: 6 });
    expect(rankOf(both)).toEqual([
      [`${chatId} title`, 12],
      [`${chatId} status`, 12],
    ]);
  });

  test("a read mark is newer than the version that was read, and older than what follows", () => {
    const read = readUpdate({ chatId, ownerId: "ada", status: "waiting", version: 6, markAdvance: 40 });
    expect(read).toEqual({
      change: { type: "status", chatId, status: "waiting", isUnread: false },
      checksumDelta: 40,
      subject: `${chatId} status`,
      rank: 13,
    });
  });

  test("ids are compared as numbers", () => {
    const ids = ["9-1", "10-2", "10-10", "100-0"];
    expect([...ids].reverse().sort(compareListIds)).toEqual(ids);
    expect(compareListIds("10-2", "10-2")).toBe(0);
  });
});
