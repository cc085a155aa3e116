import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NoticePart, PromptPart } from "../../domain/chats/message-parts.js";
import type { PromptMessage } from "../../providers/types.js";
import { MISSING_RESULT_TEXT, repairPrompt } from "./repair.js";

const user = (...parts: PromptPart[]): PromptMessage => ({ role: "user", parts });
const assistant = (...parts: PromptPart[]): PromptMessage => ({ role: "assistant", parts });
const tool = (...parts: PromptPart[]): PromptMessage => ({ role: "tool", parts });
const notice: NoticePart = { type: "notice", level: "warning", text: "It is away." };
const text = (value: string): PromptPart => ({ type: "text", text: value });
const call = (toolCallId: string, more = {}): PromptPart => ({
  type: "tool-call",
  toolCallId,
  toolName: "execute",
  arguments: {},
  ...more,
});
const result = (toolCallId: string, value: string, more = {}): PromptPart => ({
  type: "tool-result",
  toolCallId,
  toolName: "execute",
  result: value,
  isError: false,
  ...more,
});
const missing = (toolCallId: string): PromptPart =>
  result(toolCallId, "", { result: { error: MISSING_RESULT_TEXT }, isError: true });
const byVendor = { isProviderExecuted: true };
const signed = { type: "reasoning" as const, text: "", providerMetadata: { anthropic: { signature: "s" } } };

const CASES: { name: string; input: PromptMessage[]; expected: PromptMessage[] }[] = [
  {
    name: "a sound history is left as it is",
    input: [
      user(text("go")),
      assistant(text("ok"), call("a")),
      tool(result("a", "1")),
      assistant(text("done")),
    ],
    expected: [
      user(text("go")),
      assistant(text("ok"), call("a")),
      tool(result("a", "1")),
      assistant(text("done")),
    ],
  },
  {
    name: "blank text and unsigned blank reasoning vanish, and messages left empty with them",
    input: [
      user(text(" \n")),
      assistant(text(""), { type: "reasoning", text: " " }, signed),
      user(text("x")),
    ],
    expected: [assistant(signed), user(text("x"))],
  },
  {
    name: "a message of nothing but sources vanishes",
    input: [assistant({ type: "source", url: "http://a" }), user(text("x"))],
    expected: [user(text("x"))],
  },
  {
    name: "a call without a result is answered right after it",
    input: [assistant(call("a"), call("b")), tool(result("b", "2")), user(text("next"))],
    expected: [assistant(call("a"), call("b")), tool(missing("a"), result("b", "2")), user(text("next"))],
  },
  {
    name: "late and scattered results move behind their calls, in the order of the calls",
    input: [
      assistant(call("a"), call("b")),
      tool(result("b", "2")),
      user(text("hm")),
      tool(result("a", "1")),
    ],
    expected: [assistant(call("a"), call("b")), tool(result("a", "1"), result("b", "2")), user(text("hm"))],
  },
  {
    name: "the first of several results counts",
    input: [assistant(call("a")), tool(result("a", "1")), tool(result("a", "2"))],
    expected: [assistant(call("a")), tool(result("a", "1"))],
  },
  {
    name: "a call written twice in one message stays once",
    input: [assistant(call("a"), call("a")), tool(result("a", "1"))],
    expected: [assistant(call("a")), tool(result("a", "1"))],
  },
  {
    name: "a result without a call gets one",
    input: [user(text("go")), tool(result("a", "1"))],
    expected: [user(text("go")), assistant(call("a")), tool(result("a", "1"))],
  },
  {
    name: "an id that a later step uses again is renamed together with its result",
    input: [assistant(call("a")), tool(result("a", "1")), assistant(call("a")), tool(result("a", "2"))],
    expected: [
      assistant(call("a")),
      tool(result("a", "1")),
      assistant(call("a_2")),
      tool(result("a_2", "2")),
    ],
  },
  {
    name: "what the vendor executed stays as a pair in one message",
    input: [assistant(call("s", byVendor), result("s", "found", byVendor), text("so"))],
    expected: [assistant(call("s", byVendor), result("s", "found", byVendor), text("so"))],
  },
  {
    name: "a vendor's result in a tool message goes back to its call",
    input: [assistant(call("s", byVendor), text("so")), tool(result("s", "found", byVendor))],
    expected: [assistant(call("s", byVendor), text("so"), result("s", "found", byVendor))],
  },
  {
    name: "half a vendor-executed pair is dropped",
    input: [assistant(call("s", byVendor), text("so")), tool(result("t", "found", byVendor))],
    expected: [assistant(text("so"))],
  },
  {
    name: "calls outside assistant messages and text inside tool messages are dropped",
    input: [user(call("a"), text("hi")), tool(text("stray"))],
    expected: [user(text("hi"))],
  },
];

test("notices never reach a model, and a message of nothing else is left out", () => {
  const history = [
    { role: "user" as const, parts: [text("Hello")] },
    { role: "assistant" as const, parts: [notice] },
    { role: "assistant" as const, parts: [notice, text("Hi")] },
  ];
  expect(repairPrompt(history)).toEqual([user(text("Hello")), assistant(text("Hi"))]);
});

describe("repairPrompt", () => {
  test.each(CASES)("$name", ({ input, expected }) => {
    expect(repairPrompt(input)).toEqual(expected);
  });

  test("a hundred thousand messages are repaired without trouble", () => {
    const input = Array.from({ length: 50_000 }, (_, index) => [
      assistant(call(`c${index}`)),
      user(text("x")),
    ]).flat();
    expect(repairPrompt(input)).toHaveLength(150_000);
  });
});

const ids = fc.constantFrom("a", "b", "c", "", "a_2");
const flag = fc.constantFrom({}, byVendor);
const parts: fc.Arbitrary<PromptPart> = fc.oneof(
  fc.constantFrom("", " ", "words").map(text),
  fc.constantFrom<PromptPart>({ type: "reasoning", text: "" }, signed, { type: "source", url: "http://a" }),
  fc.tuple(ids, flag).map(([id, more]) => call(id, more)),
  fc.tuple(ids, flag).map(([id, more]) => result(id, "r", more)),
);
const histories = fc.array(
  fc.record({ role: fc.constantFrom("user", "assistant", "tool"), parts: fc.array(parts, { maxLength: 5 }) }),
  { maxLength: 8 },
) as fc.Arbitrary<PromptMessage[]>;

const idsOf = (message: PromptMessage | undefined, type: "tool-call" | "tool-result", isVendors: boolean) =>
  (message?.parts ?? []).flatMap((part) =>
    part.type === type && (part.isProviderExecuted ?? false) === isVendors ? [part.toolCallId] : [],
  );

test("whatever the history, calls and results are paired, ids are unique and nothing is empty", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const repaired = repairPrompt(history);
      const local = repaired.flatMap((message) => idsOf(message, "tool-call", false));
      expect(new Set(local).size).toBe(local.length);
      repaired.forEach((message, index) => {
        expect(message.parts).not.toEqual([]);
        const calls = message.role === "assistant" ? idsOf(message, "tool-call", false) : [];
        if (calls.length > 0) expect(idsOf(repaired[index + 1], "tool-result", false)).toEqual(calls);
        if (message.role === "tool") {
          expect(idsOf(message, "tool-result", false)).toEqual(
            idsOf(repaired[index - 1], "tool-call", false),
          );
        }
        expect(idsOf(message, "tool-call", true).sort()).toEqual(idsOf(message, "tool-result", true).sort());
      });
      expect(repairPrompt(repaired)).toEqual(repaired);
    }),
    { numRuns: 500 },
  );
});
