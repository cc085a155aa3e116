import { describe, expect, test } from "vitest";
import type { OpenCall } from "./chat-state.js";
import type { MessagePart, ToolCallPart, ToolResultPart } from "./message-parts.js";
import {
  nextAction,
  openCallsOf,
  type HistoryMessage,
  type NextAction,
  type TurnRules,
} from "./next-action.js";

let nextId = 1;

function message(role: HistoryMessage["role"], parts: MessagePart[] = [], isSummary = false): HistoryMessage {
  return { id: `${nextId++}`, role, parts, isSummary };
}

function call(toolCallId: string, extra: Partial<ToolCallPart> = {}): ToolCallPart {
  return { type: "tool-call", toolCallId, toolName: `tool-${toolCallId}`, arguments: { a: 1 }, ...extra };
}

function result(toolCallId: string): ToolResultPart {
  return { type: "tool-result", toolCallId, toolName: `tool-${toolCallId}`, result: 1, isError: false };
}

const RULES: TurnRules = { maxSteps: 1_000, contextLimit: 1_000, compactionThresholdPercent: 70 };

const open = (toolCallId: string, isClient = false): OpenCall => ({
  toolCallId,
  toolName: `tool-${toolCallId}`,
  isClient,
});

describe("with no open calls", () => {
  const user = message("user");
  const assistant = message("assistant");
  const tool = message("tool", [result("a")]);
  const cases: [string, HistoryMessage[], NextAction["type"]][] = [
    ["nothing was said", [], "finish"],
    ["only the system has spoken", [message("system")], "finish"],
    ["a user message is last", [user], "call-model"],
    ["the model has answered", [user, assistant], "finish"],
    ["a tool has answered", [user, assistant, tool], "call-model"],
    ["a user message is last, and a system message after them", [user, message("system")], "call-model"],
    ["history was summed up within a turn", [user, assistant, message("user", [], true)], "call-model"],
    ["a user message is after a summary", [message("user", [], true), user], "call-model"],
  ];
  test.each(cases)("%s", (_name, history, expected) => {
    expect(nextAction(history, { openCalls: [], compactionRequestedAt: null }, RULES)).toEqual({
      type: expected,
    });
  });
});

describe("with open calls", () => {
  const asking = message("assistant", [
    { type: "text", text: "Let me look." },
    call("a"),
    call("b"),
    call("c"),
    call("v", { isProviderExecuted: true }),
  ]);
  const history = [message("user"), asking];
  const runTools = (...ids: string[]): NextAction => ({
    type: "run-tools",
    messageId: asking.id,
    calls: ids.map((id) => call(id)),
  });
  const cases: [string, HistoryMessage[], OpenCall[], NextAction][] = [
    ["ours are run in call order", history, [open("c"), open("a"), open("b")], runTools("a", "b", "c")],
    [
      "those that have a result are not run again",
      [...history, message("tool", [result("a")])],
      [open("b")],
      runTools("b"),
    ],
    ["ours are run before the client is asked", history, [open("a", true), open("b")], runTools("b")],
    [
      "the client is waited for when only its calls are left",
      history,
      [open("a", true)],
      { type: "await-client" },
    ],
    ["the vendor's own calls are never run by us", history, [open("a"), open("v")], runTools("a")],
  ];
  test.each(cases)("%s", (_name, input, openCalls, expected) => {
    expect(nextAction(input, { openCalls, compactionRequestedAt: null }, RULES)).toEqual(expected);
  });

  test("the newest message with the call counts when an older one used the same id", () => {
    const older = message("assistant", [call("a", { arguments: { old: true } })]);
    expect(
      nextAction(
        [message("user"), older, message("tool", [result("a")]), asking],
        { openCalls: [open("a")], compactionRequestedAt: null },
        RULES,
      ),
    ).toEqual(runTools("a"));
  });
});

describe("a turn ends at its step limit", () => {
  const steps = (count: number) =>
    Array.from({ length: count }, () => [message("assistant"), message("tool")]).flat();
  test.each([
    ["not after one less", [message("user"), ...steps(999)], { type: "call-model" }],
    ["and then fails", [message("user"), ...steps(1_000)], { type: "fail", reason: "too_many_steps" }],
    [
      "counted from the last user message",
      [message("user"), ...steps(1_000), message("user"), ...steps(1)],
      { type: "call-model" },
    ],
    [
      "also across a summary",
      [message("user"), ...steps(999), message("user", [], true), ...steps(1)],
      { type: "fail", reason: "too_many_steps" },
    ],
  ])("%s", (_name, history, expected) => {
    const rules = { ...RULES, contextLimit: null };
    expect(nextAction(history, { openCalls: [], compactionRequestedAt: null }, rules)).toEqual(expected);
  });
});

describe("a full context", () => {
  const user = message("user");
  const tool = message("tool", [result("a")]);
  const summary = message("user", [], true);
  const usage = (inputTokens: number) => ({
    inputTokens,
    outputTokens: 100,
    reasoningTokens: 0,
    cacheReadTokens: 50,
    cacheWriteTokens: 50,
  });
  const answer = (inputTokens: number) => ({ ...message("assistant"), usage: usage(inputTokens) });
  const long = (role: "user" | "tool") => message(role, [{ type: "text", text: "word ".repeat(700) }]);
  const automatic: NextAction = { type: "compact", source: "automatic" };
  const cases: [string, HistoryMessage[], Partial<TurnRules>, NextAction][] = [
    ["is compacted between steps, at the threshold", [user, answer(500), tool], {}, automatic],
    ["is compacted after the last step", [user, answer(500)], {}, automatic],
    ["is not compacted below the threshold", [user, answer(480), tool], {}, { type: "call-model" }],
    ["is compacted by what a tool adds", [user, answer(480), long("tool")], {}, automatic],
    [
      "is compacted before a user message is answered, by a smaller model",
      [user, answer(900), user],
      {},
      automatic,
    ],
    ["is compacted for a large user message", [user, answer(480), long("user")], {}, automatic],
    ["is not compacted when nothing but the last words is long", [long("user")], {}, { type: "call-model" }],
    ["is estimated where no answer has usage", [long("user"), message("assistant"), user], {}, automatic],
    [
      "is not compacted when the estimate is short",
      [user, message("assistant"), user],
      {},
      { type: "call-model" },
    ],
    [
      "is never folded at 100 percent",
      [user, answer(9_000)],
      { compactionThresholdPercent: 100 },
      { type: "finish" },
    ],
    [
      "is compacted by whatever was said at 0 percent",
      [user, answer(0)],
      { compactionThresholdPercent: 0 },
      automatic,
    ],
    [
      "is not compacted when the limit is unknown",
      [user, answer(9_000)],
      { contextLimit: null },
      { type: "finish" },
    ],
    ["is not compacted twice for one answer", [user, answer(900), summary], {}, { type: "call-model" }],
    ["is compacted again after the next one", [user, answer(900), summary, answer(900)], {}, automatic],
    [
      "is compacted three times in a turn at most",
      [user, answer(900), summary, answer(900), summary, answer(900), summary, answer(900)],
      {},
      { type: "finish" },
    ],
    [
      "is compacted in the next turn all the same",
      [user, summary, summary, summary, user, answer(900)],
      {},
      automatic,
    ],
    [
      "is measured by the answer that has usage",
      [user, answer(900), tool, message("assistant")],
      {},
      automatic,
    ],
  ];
  test.each(cases)("%s", (_name, history, rules, expected) => {
    const chat = { openCalls: [], compactionRequestedAt: null };
    expect(nextAction(history, chat, { ...RULES, ...rules })).toEqual(expected);
  });

  test("is compacted first of all when the user requested it", () => {
    const chat = { openCalls: [], compactionRequestedAt: 7 };
    expect(nextAction([user], chat, RULES)).toEqual({ type: "compact", source: "manual" });
  });
});

test("open calls are the server's and the client's without a result, in call order", () => {
  const parts: MessagePart[] = [
    call("client"),
    call("vendor", { isProviderExecuted: true }),
    { type: "text", text: "and" },
    call("done"),
    result("done"),
    call("ours"),
    call("cut", { isCut: true }),
  ];
  expect(openCallsOf(parts, new Set(["tool-client", "tool-cut"]))).toEqual([
    { toolCallId: "client", toolName: "tool-client", isClient: true, arguments: { a: 1 } },
    { toolCallId: "ours", toolName: "tool-ours", isClient: false },
    { toolCallId: "cut", toolName: "tool-cut", isClient: false },
  ]);
});
