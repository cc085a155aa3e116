// Each kind of damage to a chat's rows is detected.
import { expect, test } from "vitest";
import { violationsOf, type ChatRows, type MessageRow } from "./invariants.js";
import type { Entry } from "./record.js";

const message = (id: number, role: string, more: Partial<MessageRow> = {}): MessageRow => ({
  ...{ id, role, visibility: "both", content: [], author_id: null, revision: 1, generation: null },
  ...{ is_summary: false, is_deleted: false },
  ...more,
});
const sent = (id: number, text: string, more: Partial<MessageRow> = {}) =>
  message(id, "user", { author_id: "ada", content: [{ type: "text", text }], ...more });
const call = (id: number, ...ids: string[]) =>
  message(id, "assistant", { content: ids.map((toolCallId) => ({ type: "tool-call", toolCallId })) });
const result = (id: number, ...ids: string[]) =>
  message(id, "tool", { content: ids.map((toolCallId) => ({ type: "tool-result", toolCallId })) });

/** A settled chat with the message "one", a tool call, and the queued message "two". */
function settledChat(): ChatRows {
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
    messages: [sent(1, "one"), call(2, "a"), result(3, "a"), message(4, "assistant", { generation: "4.1" })],
    queue: [{ id: "q", content: [{ type: "text", text: "two" }] }],
  };
}
const entry = (command: string, more: Partial<Entry>): Entry => ({
  ...{ command, begun: 1, ended: 2, outcome: "done" },
  ...more,
});
const ENTRIES = [entry("create", { text: "one" }), entry("send", { text: "two", queuedId: "qm_q" })];

test("an intact chat has no violations", () => {
  expect(violationsOf(settledChat(), ENTRIES)).toEqual([]);
});

test.each<[string, (rows: ChatRows) => void, string]>([
  ["runs on", ({ chat }) => (chat.status = "running"), "is running"],
  ["is claimed although settled", ({ chat }) => (chat.runner_id = "r"), "is claimed although it is settled"],
  [
    "keeps an error",
    ({ chat }) => (chat.last_error = {}),
    "has an error without the error status, or vice versa",
  ],
  ["keeps open calls", ({ chat }) => (chat.open_calls = [{ toolCallId: "a" }]), "is settled with open calls"],
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
    "calls without a result: a, but the chat records none",
  ],
  ["lost a call", ({ messages }) => messages.splice(1, 1), "result a in message 3 has no call before it"],
  [
    "has a result twice",
    ({ messages }) => messages.splice(3, 0, result(3, "a")),
    "result a in message 3 exists twice",
  ],
  [
    "has one generation twice",
    ({ messages }) => messages.push(message(5, "assistant", { generation: "4.1" })),
    "two messages of generation 4.1",
  ],
  ["lost a queue row", ({ queue }) => queue.pop(), "queues q but has the rows "],
  [
    "has a message twice",
    ({ messages }) => messages.splice(3, 0, sent(3, "one")),
    '"one" (create, done) exists more than once: message 1, message 3',
  ],
  [
    "has a message that was never sent",
    ({ messages }) => messages.unshift(sent(0, "three")),
    '"three" in message 0 was never sent',
  ],
  ["ends unanswered", ({ messages }) => messages.pop(), "ends with message 3 of tool"],
  ["lost a message", ({ messages }) => messages.shift(), '"one" (create, done) is missing'],
  [
    "was rewritten without an edit",
    ({ messages }) => messages.splice(3, 0, sent(3, "one", { is_deleted: true })),
    "was rewritten 1 times by 0 to 0 edits",
  ],
])("a chat that %s is detected", (_name, damage, violation) => {
  const rows = settledChat();
  damage(rows);
  expect(violationsOf(rows, ENTRIES)).toContain(violation);
});

test("a refused message must not exist, and a deleted one need not", () => {
  const isTakenBack = entry("delete queued", { begun: 3, ended: 4, queuedId: "qm_gone" });
  const gone = entry("send", { text: "gone", queuedId: "qm_gone" });
  const refused = entry("send", { text: "one", outcome: "refused" });
  const entered = entry("send", { text: "gone", queuedId: null, isInHistory: true });
  expect({
    takenBack: violationsOf(settledChat(), [...ENTRIES, gone, isTakenBack]),
    vanished: violationsOf(settledChat(), [...ENTRIES, gone]),
    entered: violationsOf(settledChat(), [...ENTRIES, entered, { ...isTakenBack, queuedId: null }]),
    refused: violationsOf(settledChat(), [refused, ENTRIES[1]!]),
  }).toEqual({
    takenBack: [],
    vanished: ['"gone" (send, done) is missing'],
    entered: ['"gone" (send, done) is missing'],
    refused: ['"one" (send, refused) exists: message 1'],
  });
});

test("a user message before a call's result is detected", () => {
  const rows = settledChat();
  rows.messages.splice(2, 0, sent(2, "three"));
  expect(violationsOf(rows, [...ENTRIES, entry("send", { text: "three" })])).toEqual([
    "message 2 was sent before a had results",
  ]);
});
