// The soak's own eyes: each kind of damage to a chat's rows is seen.
import { expect, test } from "vitest";
import { breachesOf, type ChatRows, type MessageRow } from "./laws.js";
import type { Entry } from "./record.js";

const message = (id: number, role: string, more: Partial<MessageRow> = {}): MessageRow => ({
  ...{ id, role, visibility: "both", content: [], author_id: null, revision: 1, generation: null },
  ...{ is_summary: false, is_deleted: false },
  ...more,
});
const said = (id: number, text: string, more: Partial<MessageRow> = {}) =>
  message(id, "user", { author_id: "ada", content: [{ type: "text", text }], ...more });
const call = (id: number, ...ids: string[]) =>
  message(id, "assistant", { content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId })) });
const result = (id: number, ...ids: string[]) =>
  message(id, "tool", { content: ids.map((toolCallId) => ({ type: "tool-result", toolCallId })) });

/** A chat at rest in which somebody said "one", a tool ran, and "two" waits behind it. */
function peace(): ChatRows {
  return {
    chat: {
      ...{
        id: "c",
        status: "waiting",
        archived_at: null,
        worker_id: null,
        runner_id: null,
        retry_state: null,
      },
      ...{ last_error: null, action_deadline_at: null, compaction_requested_at: null, open_calls: [] },
      ...{ snapshot_version: 9, history_version: 8, reset_version: 0, queue_version: 9, status_version: 8 },
      ...{ queued_ids: ["q"], retry_version: 0, title_version: 0, diff_version: 0 },
    },
    messages: [said(1, "one"), call(2, "a"), result(3, "a"), message(4, "assistant", { generation: "4.1" })],
    queue: [{ id: "q", content: [{ type: "text", text: "two" }] }],
  };
}
const entry = (command: string, more: Partial<Entry>): Entry => ({
  ...{ command, begun: 1, ended: 2, outcome: "done" },
  ...more,
});
const ENTRIES = [entry("create", { text: "one" }), entry("send", { text: "two", queuedId: "qm_q" })];

test("a chat in peace is left in peace", () => {
  expect(breachesOf(peace(), ENTRIES)).toEqual([]);
});

test.each<[string, (rows: ChatRows) => void, string]>([
  ["runs on", ({ chat }) => (chat.status = "running"), "is running"],
  ["is held at rest", ({ chat }) => (chat.runner_id = "r"), "is held although it rests"],
  ["keeps an error", ({ chat }) => (chat.last_error = {}), "has an error without its status, or the reverse"],
  ["keeps open calls", ({ chat }) => (chat.open_calls = [{ toolCallId: "a" }]), "rests with open calls"],
  [
    "has a version from the future",
    ({ chat }) => (chat.retry_version = 10),
    'has versions ahead of its snapshot: [["retry_version",10]]',
  ],
  [
    "has a message from the future",
    ({ messages }) => (messages[0]!.revision = 9),
    "has a message of revision 9, after its history's version",
  ],
  [
    "lost a result",
    ({ messages }) => messages.splice(2, 1),
    "calls without a result: a, but the chat knows of none",
  ],
  ["lost a call", ({ messages }) => messages.splice(1, 1), "result a in message 3 has no call before it"],
  [
    "has a result twice",
    ({ messages }) => messages.splice(3, 0, result(3, "a")),
    "result a in message 3 is there twice",
  ],
  [
    "has one generation twice",
    ({ messages }) => messages.push(message(5, "assistant", { generation: "4.1" })),
    "two messages of generation 4.1",
  ],
  ["lost a queue row", ({ queue }) => queue.pop(), "queues q but has the rows "],
  [
    "has a message twice",
    ({ messages }) => messages.splice(3, 0, said(3, "one")),
    '"one" (create, done) is there more than once: message 1, message 3',
  ],
  [
    "has words of nobody",
    ({ messages }) => messages.unshift(said(0, "three")),
    'nobody said "three" in message 0',
  ],
  ["ends unanswered", ({ messages }) => messages.pop(), "ends with message 3 of tool"],
  ["lost a message", ({ messages }) => messages.shift(), '"one" (create, done) is nowhere'],
  [
    "was rewritten by nobody",
    ({ messages }) => messages.splice(3, 0, said(3, "one", { is_deleted: true })),
    "was rewritten 1 times by 0 to 0 edits",
  ],
])("a chat that %s is found out", (_name, damage, breach) => {
  const rows = peace();
  damage(rows);
  expect(breachesOf(rows, ENTRIES)).toContain(breach);
});

test("a refused message must not be there, and one taken back need not", () => {
  const isTakenBack = entry("delete queued", { begun: 3, ended: 4, queuedId: "qm_gone" });
  const gone = entry("send", { text: "gone", queuedId: "qm_gone" });
  const refused = entry("send", { text: "one", outcome: "refused" });
  const entered = entry("send", { text: "gone", queuedId: null, isInHistory: true });
  expect({
    takenBack: breachesOf(peace(), [...ENTRIES, gone, isTakenBack]),
    vanished: breachesOf(peace(), [...ENTRIES, gone]),
    entered: breachesOf(peace(), [...ENTRIES, entered, { ...isTakenBack, queuedId: null }]),
    refused: breachesOf(peace(), [refused, ENTRIES[1]!]),
  }).toEqual({
    takenBack: [],
    vanished: ['"gone" (send, done) is nowhere'],
    entered: ['"gone" (send, done) is nowhere'],
    refused: ['"one" (send, refused) is there: message 1'],
  });
});

test("a message of before a call's result is found out", () => {
  const rows = peace();
  rows.messages.splice(2, 0, said(2, "three"));
  expect(breachesOf(rows, [...ENTRIES, entry("send", { text: "three" })])).toEqual([
    "message 2 was said before a had results",
  ]);
});
