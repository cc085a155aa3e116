/** The command table of the lifecycle, cell by cell, as specified rather than as implemented. */
import { describe, expect, test } from "vitest";
import {
  clientCall,
  failure,
  fence,
  NOW,
  userMessage,
  stateOf,
  wordsFor,
} from "../../../test/support/chat-states.js";
import { transition } from "./chat-lifecycle.js";
import { CHAT_STATUSES, type ChatState, type ChatStatus } from "./chat-state.js";
import type { Command } from "./transition.js";

/** The outcome with an empty queue, and with q1 and q2 queued; one text when both are the same. */
type Cell = string | [empty: string, queued: string];
type Row = {
  command: Command;
  /** Preconditions of the command. */
  initial?: Partial<ChatState>;
  cells: Record<ChatStatus, Cell>;
  /** The archived chat's cells; those not named are refused as archived. */
  archived?: Partial<Record<ChatStatus, Cell>>;
};

const message = userMessage("hello");
const partial = { role: "assistant" as const, visibility: "both" as const, parts: [] };
const boundary = { role: "system" as const, visibility: "both" as const, parts: [] };
const messages = [partial];
const openCalls: ChatState["openCalls"] = [];
const acquire = { type: "acquire" as const, workerId: "worker-2", runnerId: "runner-2" };

const elsewhere = "refused wrong_status";
const staleFence = "refused stale_fence";
const joins: Record<"pending" | "running" | "interrupting" | "requires_action", Cell> = {
  pending: ["pending [new] enqueue new", "pending [q1 q2 new] enqueue new"],
  running: ["running [new] enqueue new", "running [q1 q2 new] enqueue new"],
  interrupting: ["interrupting [new] enqueue new", "interrupting [q1 q2 new] enqueue new"],
  requires_action: ["requires_action [new] enqueue new", "requires_action [q1 q2 new] enqueue new"],
};
const starts: Cell = ["pending [] user", "pending [q2 new] enqueue new promote q1"];
const edits: Cell = ["pending [] delete-from 5 user", "pending [] delete-from 5 delete q1 q2 user"];
const stays = (status: ChatStatus): Cell => [`${status} []`, `${status} [q1 q2]`];
const everywhere = (cellOf: (status: ChatStatus) => Cell): Record<ChatStatus, Cell> => ({
  waiting: cellOf("waiting"),
  pending: cellOf("pending"),
  running: cellOf("running"),
  interrupting: cellOf("interrupting"),
  requires_action: cellOf("requires_action"),
  error: cellOf("error"),
});
/** A command that only the runner with the current claim may give. */
const runners = {
  waiting: staleFence,
  pending: staleFence,
  interrupting: elsewhere,
  requires_action: staleFence,
  error: staleFence,
};

const TABLE: Record<string, Row> = {
  "send, whenBusy queue": {
    command: { type: "send-message", whenBusy: "queue", message, queuedId: "new" },
    cells: { waiting: starts, error: starts, ...joins },
  },
  "send, whenBusy interrupt": {
    command: { type: "send-message", whenBusy: "interrupt", message, queuedId: "new" },
    cells: {
      waiting: ["pending [] user", "pending [q1 q2] user"],
      error: ["pending [] user", "pending [q1 q2] user"],
      pending: ["pending [new] enqueue new", "pending [new q1 q2] enqueue new"],
      running: ["interrupting [new] enqueue new", "interrupting [new q1 q2] enqueue new"],
      interrupting: ["interrupting [new] enqueue new", "interrupting [new q1 q2] enqueue new"],
      requires_action: ["pending [] tool:cancelled user", "pending [q1 q2] tool:cancelled user"],
    },
  },
  "send, whenBusy interrupt, behind another": {
    command: { type: "send-message", whenBusy: "interrupt", message, queuedId: "new" },
    initial: { priorityIds: ["q1"] },
    cells: {
      waiting: ["pending [] user", "pending [new q2] enqueue new promote q1"],
      error: ["pending [] user", "pending [new q2] enqueue new promote q1"],
      pending: ["pending [new] enqueue new", "pending [q1 new q2] enqueue new"],
      running: ["interrupting [new] enqueue new", "interrupting [q1 new q2] enqueue new"],
      interrupting: ["interrupting [new] enqueue new", "interrupting [q1 new q2] enqueue new"],
      requires_action: [
        "pending [] tool:cancelled user",
        "pending [new q2] tool:cancelled enqueue new promote q1",
      ],
    },
  },
  edit: {
    command: { type: "edit-message", messageId: "5", message },
    cells: everywhere(() => edits),
  },
  interrupt: {
    command: { type: "interrupt" },
    cells: {
      waiting: "unchanged",
      pending: ["waiting []", "pending [q2] promote q1"],
      running: stays("interrupting"),
      interrupting: "unchanged",
      requires_action: ["waiting [] tool:cancelled", "pending [q2] tool:cancelled promote q1"],
      error: "unchanged",
    },
  },
  "promote the second": {
    command: { type: "promote-queued", queuedId: "q2" },
    cells: {
      waiting: ["unchanged", "pending [q1] promote q2"],
      pending: ["unchanged", "pending [q2 q1]"],
      running: ["unchanged", "interrupting [q2 q1]"],
      interrupting: ["unchanged", "interrupting [q2 q1]"],
      requires_action: ["unchanged", "pending [q1] tool:cancelled promote q2"],
      error: ["unchanged", "pending [q1] promote q2"],
    },
  },
  "promote the first": {
    command: { type: "promote-queued", queuedId: "q1" },
    cells: {
      waiting: ["unchanged", "pending [q2] promote q1"],
      pending: ["unchanged", "pending [q1 q2]"],
      running: ["unchanged", "interrupting [q1 q2]"],
      interrupting: ["unchanged", "interrupting [q1 q2]"],
      requires_action: ["unchanged", "pending [q2] tool:cancelled promote q1"],
      error: ["unchanged", "pending [q2] promote q1"],
    },
  },
  "delete from the queue": {
    command: { type: "delete-queued", queuedId: "q1" },
    cells: {
      waiting: ["unchanged", "waiting [q2] delete q1"],
      pending: ["unchanged", "pending [q2] delete q1"],
      running: ["unchanged", "running [q2] delete q1"],
      interrupting: ["unchanged", "interrupting [q2] delete q1"],
      requires_action: ["unchanged", "requires_action [q2] delete q1"],
      error: ["unchanged", "error [q2] delete q1"],
    },
  },
  "request compaction": {
    command: { type: "request-compaction" },
    cells: {
      waiting: stays("pending"),
      pending: elsewhere,
      running: elsewhere,
      interrupting: elsewhere,
      requires_action: elsewhere,
      error: stays("pending"),
    },
  },
  "retry the failed turn": {
    command: { type: "retry" },
    cells: { ...everywhere(() => elsewhere), error: stays("pending") },
  },
  "retry the failed turn without its answer": {
    command: { type: "retry", without: { messageId: "6", historyVersion: fence.historyVersion } },
    cells: {
      ...everywhere(() => elsewhere),
      error: ["pending [] delete-from 6", "pending [q1 q2] delete-from 6"],
    },
  },
  "retry the failed turn without an answer of another history": {
    command: { type: "retry", without: { messageId: "6", historyVersion: 6 } },
    cells: { ...everywhere(() => elsewhere), error: "refused stale_fence" },
  },
  "clear context": {
    command: { type: "clear-context", messages: [boundary] },
    cells: {
      waiting: ["waiting [] system", "refused queue_not_empty"],
      pending: elsewhere,
      running: elsewhere,
      interrupting: elsewhere,
      requires_action: elsewhere,
      error: ["waiting [] system", "refused queue_not_empty"],
    },
  },
  "set the title": {
    command: { type: "set-title", title: "Another", source: "person" },
    cells: everywhere(stays),
    archived: everywhere((status) => [`archived ${status} []`, `archived ${status} [q1 q2]`]),
  },
  "note that the branch is shown differently": {
    command: { type: "note-diff" },
    cells: everywhere(stays),
    archived: everywhere((status) => [`archived ${status} []`, `archived ${status} [q1 q2]`]),
  },
  "submit tool results": {
    command: { type: "submit-tool-results", results: [{ toolCallId: "c1", result: "yes", isError: false }] },
    cells: {
      ...everywhere(() => elsewhere),
      requires_action: ["pending [] tool:answered", "pending [q1 q2] tool:answered"],
    },
  },
  archive: {
    command: { type: "archive" },
    cells: {
      waiting: ["archived waiting []", "archived waiting [q1 q2]"],
      pending: ["archived waiting []", "archived waiting [q1 q2]"],
      running: ["archived interrupting []", "archived interrupting [q1 q2]"],
      interrupting: ["archived interrupting []", "archived interrupting [q1 q2]"],
      requires_action: ["archived waiting [] tool:cancelled", "archived waiting [q1 q2] tool:cancelled"],
      error: ["archived error []", "archived error [q1 q2]"],
    },
    archived: everywhere(() => "unchanged"),
  },
  unarchive: {
    command: { type: "unarchive" },
    cells: everywhere(() => "unchanged"),
    archived: everywhere(stays),
  },
  "acquire while the lease lives": {
    command: { ...acquire, isLeaseDead: false },
    cells: {
      waiting: elsewhere,
      pending: stays("running"),
      running: "refused lease_alive",
      interrupting: "refused lease_alive",
      requires_action: elsewhere,
      error: elsewhere,
    },
    archived: { interrupting: "refused lease_alive" },
  },
  "acquire when the lease is dead": {
    command: { ...acquire, isLeaseDead: true },
    cells: {
      waiting: elsewhere,
      pending: stays("running"),
      running: stays("running"),
      interrupting: stays("interrupting"),
      requires_action: elsewhere,
      error: elsewhere,
    },
    archived: { interrupting: ["archived interrupting []", "archived interrupting [q1 q2]"] },
  },
  "begin attempt": {
    command: { type: "begin-attempt", fence },
    cells: { ...runners, running: stays("running") },
  },
  "record retry": {
    command: { type: "record-retry", fence, delayMs: 50, failure },
    cells: { ...runners, running: stays("running") },
  },
  "commit step": {
    command: { type: "commit-step", fence, messages, openCalls },
    cells: { ...runners, running: ["running [] assistant", "running [q1 q2] assistant"] },
  },
  "await the client, who has calls to answer": {
    command: { type: "await-client", fence },
    initial: { openCalls: [clientCall] },
    cells: { ...runners, running: stays("requires_action") },
  },
  "await the client, who has nothing to answer": {
    command: { type: "await-client", fence },
    initial: { openCalls: [] },
    cells: { ...runners, running: "refused open_calls" },
  },
  "finish turn": {
    command: { type: "finish-turn", fence },
    cells: { ...runners, running: ["waiting []", "running [q2] promote q1"] },
  },
  "finish interrupt with a partial answer": {
    command: { type: "finish-interrupt", fence, messages, openCalls },
    cells: {
      ...runners,
      running: elsewhere,
      interrupting: ["waiting [] assistant", "running [q2] assistant promote q1"],
    },
    archived: {
      ...runners,
      running: elsewhere,
      interrupting: ["archived waiting [] assistant", "archived waiting [q1 q2] assistant"],
    },
  },
  "finish interrupt with nothing": {
    command: { type: "finish-interrupt", fence, messages: [], openCalls },
    cells: { ...runners, running: elsewhere, interrupting: ["waiting []", "running [q2] promote q1"] },
    archived: {
      ...runners,
      running: elsewhere,
      interrupting: ["archived waiting []", "archived waiting [q1 q2]"],
    },
  },
  fail: {
    command: { type: "fail", fence, failure },
    cells: { ...runners, running: stays("error") },
  },
  release: {
    command: { type: "release", fence },
    cells: { ...runners, running: stays("pending") },
  },
  expire: {
    command: { type: "expire" },
    cells: {
      ...everywhere(() => elsewhere),
      requires_action: ["pending [] tool:late", "pending [q1 q2] tool:late"],
    },
  },
};

describe.each(Object.entries(TABLE))("%s", (_name, row) => {
  const queues = [[], ["q1", "q2"]];
  const cases = CHAT_STATUSES.flatMap((status) =>
    queues.flatMap((queuedIds, column) =>
      [false, true].map((isArchived) => {
        const cell = isArchived ? (row.archived?.[status] ?? "refused archived") : row.cells[status];
        const expected = typeof cell === "string" ? cell : cell[column];
        const from = `${isArchived ? "archived " : ""}${status} [${queuedIds.join(" ")}]`;
        return { from, expected, state: stateOf(status, { queuedIds, isArchived, ...row.initial }) };
      }),
    ),
  );

  test.each(cases)("$from → $expected", ({ state, expected }) => {
    const before = structuredClone(state);
    expect(wordsFor(transition(state, row.command, NOW))).toBe(expected);
    expect(state).toEqual(before);
  });
});

test("the table has a row for every command", () => {
  const types: Record<Command["type"], true> = {
    "send-message": true,
    "edit-message": true,
    interrupt: true,
    "promote-queued": true,
    "delete-queued": true,
    retry: true,
    "request-compaction": true,
    "clear-context": true,
    "submit-tool-results": true,
    archive: true,
    unarchive: true,
    "set-title": true,
    "note-diff": true,
    acquire: true,
    "begin-attempt": true,
    "record-retry": true,
    "commit-step": true,
    "await-client": true,
    "finish-turn": true,
    "finish-interrupt": true,
    fail: true,
    release: true,
    expire: true,
  };
  const rows = new Set(Object.values(TABLE).map((row) => row.command.type));
  expect([...rows].sort()).toEqual(Object.keys(types).sort());
});
