/** The exact state changes of each command: versions, claim, attempt, deadline, notices. */
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
import type { ChatState, MessageDraft } from "./chat-state.js";
import type { Command } from "./transition.js";

const message = userMessage("hello");
const answer: MessageDraft = { role: "assistant", visibility: "both", parts: [{ type: "text", text: "Hi" }] };
const retry = { attempt: 2, delayMs: 5, retryingAt: NOW + 5, failure };
const send: Command = { type: "send-message", whenBusy: "queue", message, queuedId: "new" };
const commit: Command = { type: "commit-step", fence, messages: [answer], openCalls: [] };

/** The fields that differ in the next state. */
function changesOf(state: ChatState, command: Command): Partial<ChatState> | string {
  const result = transition(state, command, NOW);
  if (result.outcome !== "changed") return wordsFor(result);
  const before = new Map<string, unknown>(Object.entries(state));
  const changed = Object.entries(result.next).filter(([key, value]) => before.get(key) !== value);
  return Object.fromEntries(changed);
}

describe("a transition changes exactly what it should:", () => {
  const running = stateOf("running", { retry: null });
  const inHistory = { snapshotVersion: 10, historyVersion: 10, attempt: 0, openCalls: [] };
  const unclaimed = { workerId: null, runnerId: null };
  const cases: [string, ChatState, Command, Partial<ChatState>][] = [
    [
      "a message starts a turn",
      stateOf("waiting"),
      send,
      { ...inHistory, status: "pending", statusVersion: 10 },
    ],
    [
      "a message leaves the error behind",
      stateOf("error"),
      send,
      { ...inHistory, status: "pending", statusVersion: 10, lastError: null },
    ],
    [
      "a retry leaves the error behind, and has all attempts before it",
      stateOf("error"),
      { type: "retry" },
      { ...inHistory, status: "pending", statusVersion: 10, lastError: null },
    ],
    [
      "a retry wants the summary again that could not be made",
      stateOf("error", { compactionRequestedAt: NOW }),
      { type: "retry" },
      { ...inHistory, status: "pending", statusVersion: 10, lastError: null },
    ],
    [
      "a retry without the answer there is makes older cursors void",
      stateOf("error"),
      { type: "retry", without: { messageId: "6", historyVersion: 7 } },
      { ...inHistory, status: "pending", statusVersion: 10, lastError: null, resetVersion: 10 },
    ],
    [
      "a message that does not wait for the others",
      stateOf("running", { queuedIds: ["q1"] }),
      { ...send, whenBusy: "interrupt" },
      {
        ...{ snapshotVersion: 10, status: "interrupting", statusVersion: 10 },
        ...{ queuedIds: ["new", "q1"], priorityIds: ["new"], queueVersion: 10 },
      },
    ],
    ["a message waits", running, send, { snapshotVersion: 10, queuedIds: ["new"], queueVersion: 10 }],
    [
      "an edit takes the chat from its runner, and older cursors with it",
      stateOf("running", { retry, retryVersion: 9 }),
      { type: "edit-message", messageId: "5", message },
      {
        ...inHistory,
        ...unclaimed,
        status: "pending",
        statusVersion: 10,
        resetVersion: 10,
        queuedIds: [],
        queueVersion: 10,
        retry: null,
        retryVersion: 10,
      },
    ],
    [
      "an acquisition, which begins the next attempt",
      stateOf("pending"),
      { type: "acquire", workerId: "w", runnerId: "r", isLeaseDead: false },
      { snapshotVersion: 10, status: "running", statusVersion: 10, workerId: "w", runnerId: "r", attempt: 3 },
    ],
    [
      "a takeover of a waiting retry, which begins the next attempt",
      stateOf("running", { retry, retryVersion: 9 }),
      { type: "acquire", workerId: "w", runnerId: "r", isLeaseDead: true },
      { snapshotVersion: 10, workerId: "w", runnerId: "r", attempt: 3, retry: null, retryVersion: 10 },
    ],
    [
      "a takeover of an interrupt, whose deltas are still to be saved",
      stateOf("interrupting"),
      { type: "acquire", workerId: "w", runnerId: "r", isLeaseDead: true },
      { snapshotVersion: 10, workerId: "w", runnerId: "r" },
    ],
    [
      "an attempt",
      stateOf("running", { retry, retryVersion: 9 }),
      { type: "begin-attempt", fence },
      { snapshotVersion: 10, attempt: 3, retry: null, retryVersion: 10 },
    ],
    [
      "a retry notice",
      running,
      { type: "record-retry", fence, delayMs: 5, failure },
      { snapshotVersion: 10, retry, retryVersion: 10 },
    ],
    ["a step", running, commit, inHistory],
    [
      "calls that the client must answer",
      stateOf("running", { openCalls: [clientCall] }),
      { type: "await-client", fence },
      {
        ...unclaimed,
        snapshotVersion: 10,
        status: "requires_action",
        statusVersion: 10,
        actionDeadlineAt: NOW + 300_000,
      },
    ],
    [
      "the client's answer",
      stateOf("requires_action"),
      { type: "submit-tool-results", results: [{ toolCallId: "c1", result: 1, isError: false }] },
      { ...inHistory, status: "pending", statusVersion: 10, actionDeadlineAt: null },
    ],
    [
      "an interrupt",
      running,
      { type: "interrupt" },
      { snapshotVersion: 10, status: "interrupting", statusVersion: 10 },
    ],
    [
      "an interrupt of a waiting retry, whose failed attempt is over",
      stateOf("running", { retry, retryVersion: 9 }),
      { type: "interrupt" },
      {
        snapshotVersion: 10,
        status: "interrupting",
        statusVersion: 10,
        attempt: 3,
        retry: null,
        retryVersion: 10,
      },
    ],
    [
      "a release",
      running,
      { type: "release", fence },
      { ...unclaimed, snapshotVersion: 10, status: "pending", statusVersion: 10 },
    ],
    [
      "a failure",
      running,
      { type: "fail", fence, failure },
      { ...unclaimed, snapshotVersion: 10, status: "error", statusVersion: 10, lastError: failure },
    ],
    [
      "the end of a turn",
      running,
      { type: "finish-turn", fence },
      { ...unclaimed, snapshotVersion: 10, status: "waiting", statusVersion: 10 },
    ],
    [
      "the end of a turn while a message waits",
      stateOf("running", { queuedIds: ["q1"] }),
      { type: "finish-turn", fence },
      { ...inHistory, queuedIds: [], queueVersion: 10 },
    ],
    [
      "a requested compaction",
      stateOf("waiting"),
      { type: "request-compaction" },
      { snapshotVersion: 10, status: "pending", statusVersion: 10, compactionRequestedAt: NOW },
    ],
  ];
  test.each(cases)("%s", (_name, state, command, expected) => {
    const changes = changesOf(state, command);
    const hadNoCalls = state.openCalls.length === 0 && "openCalls" in expected;
    // Another generation has another start.
    const begun = "historyVersion" in expected || "attempt" in expected ? { generationStartedAt: NOW } : {};
    expect(hadNoCalls && typeof changes === "object" ? { openCalls: [], ...changes } : changes).toEqual({
      ...expected,
      ...begun,
    });
  });
});
