/** Rules beyond the command table: open calls, results, deadlines, fences, several commands at once. */
import { describe, expect, test } from "vitest";
import {
  clientCall,
  failure,
  fence,
  NOW,
  ourCall,
  userMessage,
  stateOf,
  wordsFor,
} from "../../../test/support/chat-states.js";
import { initialState, transition, transitionAll } from "./chat-lifecycle.js";
import { CHAT_STATUSES, type MessageDraft, type ChatState } from "./chat-state.js";
import type { Command, Fence } from "./transition.js";

const message = userMessage("hello");
const answer: MessageDraft = { role: "assistant", visibility: "both", parts: [{ type: "text", text: "Hi" }] };
const send: Command = { type: "send-message", whenBusy: "queue", message, queuedId: "new" };
const commit: Command = { type: "commit-step", fence, messages: [answer], openCalls: [] };

describe("calls without a result", () => {
  const open = { openCalls: [ourCall, clientCall] };
  const cases: [string, ChatState, Command, string][] = [
    [
      "are cancelled when a message is sent to a failed chat",
      stateOf("error", open),
      send,
      "pending [] tool:cancelled,cancelled user",
    ],
    [
      "are cancelled before the queue's head is promoted",
      stateOf("error", { ...open, queuedIds: ["q1"] }),
      { type: "promote-queued", queuedId: "q1" },
      "pending [] tool:cancelled,cancelled promote q1",
    ],
    [
      "are cancelled before the context is cleared",
      stateOf("waiting", open),
      { type: "clear-context", messages: [{ role: "system", visibility: "both", parts: [] }] },
      "waiting [] tool:cancelled,cancelled system",
    ],
    [
      "stay open after an interrupt before the turn was claimed, since no message follows yet",
      stateOf("pending", open),
      { type: "interrupt" },
      "waiting []",
    ],
    [
      "are cancelled by an interrupt that lets the next message speak",
      stateOf("pending", { ...open, queuedIds: ["q1"] }),
      { type: "interrupt" },
      "pending [] tool:cancelled,cancelled promote q1",
    ],
    [
      "are interrupted unless they were finished in time",
      stateOf("interrupting", { ...open, queuedIds: ["q1"] }),
      {
        type: "finish-interrupt",
        fence,
        messages: [
          {
            role: "tool",
            visibility: "both",
            parts: [
              { type: "tool-result", toolCallId: "c2", toolName: "execute", result: 1, isError: false },
            ],
          },
        ],
        openCalls: [clientCall],
        addRuntime: { messageId: "6", runtimeMs: 40 },
      },
      "running [] add-runtime 6 tool:answered tool:interrupted promote q1",
    ],
    [
      "keep a turn from ending",
      stateOf("running", open),
      { type: "finish-turn", fence },
      "refused open_calls",
    ],
    [
      "that are ours do not wait for the client",
      stateOf("running", open),
      { type: "await-client", fence },
      "refused open_calls",
    ],
    [
      "leave history together with the edited message",
      stateOf("running", open),
      { type: "edit-message", messageId: "5", message },
      "pending [] delete-from 5 user",
    ],
  ];
  test.each(cases)("%s", (_name, state, command, expected) => {
    expect(wordsFor(transition(state, command, NOW))).toBe(expected);
  });
});

describe("the result of a waiting call records how long it took", () => {
  const startedAt = NOW - 700;
  const waiting = (status: "requires_action" | "interrupting") =>
    stateOf(status, {
      openCalls: [
        { ...clientCall, startedAt },
        { ...clientCall, toolCallId: "c9" },
      ],
      actionDeadlineAt: status === "requires_action" ? NOW : null,
    });
  const results = ["c1", "c9"].map((toolCallId) => ({ toolCallId, result: "ok", isError: false }));
  const { openCalls } = waiting("interrupting");
  const cases: [string, ChatState, Command][] = [
    ["when its client answers", waiting("requires_action"), { type: "submit-tool-results", results }],
    ["when its client is late", waiting("requires_action"), { type: "expire" }],
    ["when another message is sent", waiting("requires_action"), { ...send, whenBusy: "interrupt" }],
    [
      "when it is stopped",
      waiting("interrupting"),
      { type: "finish-interrupt", fence, messages: [], openCalls },
    ],
  ];
  test.each(cases)("%s", (_name, state, command) => {
    const outcome = transition(state, command, NOW);
    const [write] = outcome.outcome === "changed" ? outcome.writes : [];
    const parts = write?.type === "insert-messages" ? (write.messages[0]?.parts ?? []) : [];
    const times = parts.map((part) =>
      part.type === "tool-result" ? [part.toolCallId, part.startedAt, part.durationMs] : [],
    );
    // The second is from a version that did not record when a call began.
    expect(times).toEqual([
      ["c1", startedAt, 700],
      ["c9", undefined, undefined],
    ]);
  });
});

describe("a client's results are refused", () => {
  const state = stateOf("requires_action", { openCalls: [clientCall, { ...clientCall, toolCallId: "c9" }] });
  const result = (toolCallId: string) => ({ toolCallId, result: "ok", isError: false });
  test.each([
    ["when one is missing", [result("c1")]],
    ["when there are none", []],
    ["when one is of no open call", [result("c1"), result("c9"), result("c0")]],
    ["when one is given twice", [result("c1"), result("c1")]],
    ["when one is given twice beside the others", [result("c1"), result("c9"), result("c9")]],
  ])("%s", (_name, results) => {
    expect(wordsFor(transition(state, { type: "submit-tool-results", results }, NOW))).toBe(
      "refused results_mismatch",
    );
  });

  test("never for their order: they are stored in call order", () => {
    const command: Command = { type: "submit-tool-results", results: [result("c9"), result("c1")] };
    const outcome = transition(state, command, NOW);
    expect(outcome.outcome === "changed" && outcome.writes).toEqual([
      {
        type: "insert-messages",
        messages: [
          {
            role: "tool",
            visibility: "both",
            parts: ["c1", "c9"].map((id) => ({ type: "tool-result", toolName: "ask", ...result(id) })),
          },
        ],
      },
    ]);
  });
});

test("a client's calls expire exactly at their deadline", () => {
  const state = stateOf("requires_action", { actionDeadlineAt: NOW });
  expect([NOW - 1, NOW].map((now) => wordsFor(transition(state, { type: "expire" }, now)))).toEqual([
    "refused deadline_not_reached",
    "pending [] tool:late",
  ]);
});

describe("a queue holds fifty messages", () => {
  const queuedIds = Array.from({ length: 50 }, (_, index) => `q${index}`);
  const interrupting: Command = { ...send, whenBusy: "interrupt" };
  test.each(["pending", "running", "interrupting", "requires_action"] as const)("of a %s chat", (status) => {
    expect(wordsFor(transition(stateOf(status, { queuedIds }), send, NOW))).toBe("refused queue_full");
  });

  test("also when the next one would interrupt", () => {
    const words = wordsFor(transition(stateOf("running", { queuedIds }), interrupting, NOW));
    expect(words).toBe("refused queue_full");
  });

  test("and one more where the head leaves at the same time", () => {
    const next = transition(stateOf("waiting", { queuedIds }), send, NOW);
    expect(next.outcome === "changed" && next.next.queuedIds).toEqual([...queuedIds.slice(1), "new"]);
  });
});

describe("a runner that lost the chat", () => {
  const stale: [string, Fence][] = [
    ["another runner has claimed it", { ...fence, runnerId: "runner-0" }],
    ["history has moved on", { ...fence, historyVersion: 6 }],
  ];
  const commands = (staleFence: Fence): Command[] => [
    { type: "begin-attempt", fence: staleFence },
    { type: "record-retry", fence: staleFence, delayMs: 1, failure },
    { type: "commit-step", fence: staleFence, messages: [], openCalls: [] },
    { type: "await-client", fence: staleFence },
    { type: "finish-turn", fence: staleFence },
    { type: "finish-interrupt", fence: staleFence, messages: [], openCalls: [] },
    { type: "fail", fence: staleFence, failure },
    { type: "release", fence: staleFence },
  ];
  test.each(stale)("can change nothing: %s", (_name, staleFence) => {
    const outcomes = CHAT_STATUSES.flatMap((status) =>
      commands(staleFence).map((command) => wordsFor(transition(stateOf(status), command, NOW))),
    );
    expect([...new Set(outcomes)]).toEqual(["refused stale_fence"]);
  });
});

describe("several commands in one transaction", () => {
  const finish: Command = { type: "finish-turn", fence };

  test("make one snapshot, and the later ones build on the earlier ones", () => {
    const state = stateOf("running", { queuedIds: ["q1"] });
    const result = transitionAll(state, [commit, finish, { type: "begin-attempt", fence }], NOW);
    expect(wordsFor(result)).toBe("running [] assistant promote q1");
    expect(result.outcome === "changed" && result.next).toEqual({
      ...state,
      generationStartedAt: NOW,
      snapshotVersion: 10,
      historyVersion: 10,
      queueVersion: 10,
      attempt: 1,
      queuedIds: [],
      openCalls: [],
    });
  });

  test("change nothing at all when one of them is refused", () => {
    expect(wordsFor(transitionAll(stateOf("running"), [commit, finish, finish], NOW))).toBe(
      "refused stale_fence",
    );
  });

  test("do not give a stale runner the fence of another command", () => {
    const staleCommit: Command = { ...commit, fence: { ...fence, historyVersion: 6 } };
    expect(wordsFor(transitionAll(stateOf("running"), [staleCommit, finish], NOW))).toBe(
      "refused stale_fence",
    );
  });

  test("skip those without effect", () => {
    const commands: Command[] = [{ type: "interrupt" }, send, { type: "interrupt" }];
    expect(wordsFor(transitionAll(stateOf("waiting"), commands, NOW))).toBe("waiting [] user");
  });

  test("change nothing when none has an effect", () => {
    expect(transitionAll(stateOf("waiting"), [{ type: "interrupt" }, { type: "unarchive" }], NOW)).toEqual({
      outcome: "unchanged",
    });
  });
});

test("a new chat has its first message in history and is pending", () => {
  expect(initialState("A chat")).toMatchObject({
    status: "pending",
    snapshotVersion: 1,
    historyVersion: 1,
    statusVersion: 1,
  });
});

describe("an interrupt that keeps the queue leaves the chat idle with its queued messages", () => {
  const waiting = { queuedIds: ["q1", "q2"] };
  test.each<[ChatState["status"], Command, string]>([
    ["pending", { type: "interrupt", keepsQueue: true }, "waiting [q1 q2]"],
    ["requires_action", { type: "interrupt", keepsQueue: true }, "waiting [q1 q2] tool:cancelled"],
    ["running", { type: "interrupt", keepsQueue: true }, "interrupting [q1 q2]"],
    [
      "interrupting",
      { type: "finish-interrupt", fence, messages: [answer], openCalls: [], keepsQueue: true },
      "waiting [q1 q2] assistant",
    ],
  ])("from %s", (status, command, words) => {
    expect(wordsFor(transition(stateOf(status, waiting), command, NOW))).toBe(words);
  });
});
