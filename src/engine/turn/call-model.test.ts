import { expect, test } from "vitest";
import type { LiveDelta } from "../../domain/chats/chat-events.js";
import { ModelCallError, type ChatFailure } from "../../domain/common/failures.js";
import type { ModelRequest, ModelStreamPart, ReportedUsage } from "../../providers/types.js";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import type { JsonObject } from "../../domain/common/json.js";
import { isDeeperThan, MAX_ARGUMENT_DEPTH } from "../../domain/common/json-depth.js";
import type { NoticePart, TokenUsage } from "../../domain/chats/message-parts.js";
import { EMPTY_PREAMBLE, type Preamble } from "./accumulate.js";
import { callModel, CUT_NOTICE } from "./call-model.js";

const usage = {
  inputTokens: 1,
  outputTokens: 2,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
const text = (value: string): ModelStreamPart => ({ type: "text-delta", text: value });
const finish: ModelStreamPart = { type: "finish", reason: "stop" };
const busy: ChatFailure = { kind: "overloaded", message: "Busy.", isRetryable: true };

/** "Say hello." and the overhead of a message are 8 tokens by our estimate. */
const request: ModelRequest = {
  model: "m",
  system: "",
  messages: [{ role: "user", parts: [{ type: "text", text: "Say hello." }] }],
  tools: [],
  maxOutputTokens: 10,
};
const estimated = (inputTokens: number, outputTokens: number, reasoningTokens = 0): TokenUsage => ({
  ...usage,
  inputTokens,
  outputTokens,
  reasoningTokens,
  isEstimated: true,
});

/** Each step is a part of the stream or something that happens to it. */
type Step = ModelStreamPart | ((streamed: () => string[]) => void);

async function call(...steps: Step[]) {
  return callWith(EMPTY_PREAMBLE, ...steps);
}

async function callWith(preamble: Preamble, ...steps: Step[]) {
  const stop = new AbortController();
  const clock = new ManualClock();
  const deltas: LiveDelta[] = [];
  async function* open(): AsyncGenerator<ModelStreamPart> {
    for (const step of steps) {
      await Promise.resolve();
      if (typeof step === "function") step(streamed);
      else yield step;
    }
  }
  const streamed = () => deltas.map(({ delta }) => ("append" in delta ? delta.append : delta.type));
  const publish = (more: LiveDelta[]) => void deltas.push(...more);
  const ports = { clock, publish, deltaIntervalMs: () => 15 };
  const running = callModel({ open, request }, stop.signal, ports, preamble);
  return {
    stop,
    running,
    streamed,
  };
}

const fail = (error: unknown) => () => {
  throw error;
};

test("a complete answer is completed, and all of it was published", async () => {
  const { running, streamed } = await call(text("a"), text("b"), { type: "usage", usage }, text("c"), finish);
  expect(await running).toEqual({
    type: "completed",
    parts: [{ type: "text", text: "abc" }],
    usage,
    finishReason: "stop",
    responseId: null,
  });
  expect(streamed()).toEqual(["a", "bc"]);
});

test("an answer that breaks off is a retryable failure", async () => {
  const { running, streamed } = await call(text("a"), text("b"));
  expect(await running).toEqual({
    type: "failed",
    failure: {
      kind: "timeout",
      message: "The model's answer broke off before it was complete.",
      isRetryable: true,
    },
    parts: [{ type: "text", text: "ab" }],
    usage: estimated(7, 1),
    retryAfterMs: undefined,
    contextLimit: undefined,
    cause: undefined,
  });
  expect(streamed()).toEqual(["a", "b"]);
});

test("a vendor's refusal is returned with its retry-after and its cause", async () => {
  const error = new ModelCallError(busy, 7_000);
  const { running } = await call(text("a"), fail(error));
  expect(await running).toEqual({
    type: "failed",
    failure: busy,
    parts: [{ type: "text", text: "a" }],
    usage: estimated(7, 1),
    retryAfterMs: 7_000,
    contextLimit: undefined,
    cause: error,
  });
});

test("a bug is rethrown", async () => {
  const { running } = await call(text("a"), fail(new TypeError("a bug")));
  await expect(running).rejects.toThrow("a bug");
});

test.each([
  ["when the stream just ends", undefined],
  ["when the vendor's error comes with it", new ModelCallError(busy, undefined)],
  ["when the abort itself is thrown", new DOMException("aborted", "AbortError")],
])("a stop keeps the partial answer, and publishes it, %s", async (_name, error) => {
  const { stop, running, streamed } = await call(text("a"), text("b"), { type: "usage", usage }, () => {
    stop.abort({ kind: "interrupt" });
    if (error) throw error;
  });
  expect(await running).toEqual({ type: "stopped", parts: [{ type: "text", text: "ab" }], usage });
  expect(streamed()).toEqual(["a", "b"]);
});

const away: NoticePart = { type: "notice", level: "warning", text: "It is away.", mcpServerId: "one" };
const callOf = (toolName: string, more = {}): ModelStreamPart & { type: "tool-call" } => ({
  ...{ type: "tool-call", toolCallId: toolName, toolName, arguments: {} },
  ...more,
});

test("notices come first in the message, and are published before the model's first part", async () => {
  const preamble = { ...EMPTY_PREAMBLE, notices: [away] };
  const before: string[][] = [];
  const record = (soFar: () => string[]) => void before.push(soFar());
  const { running, streamed } = await callWith(preamble, record, text("a"), finish);
  expect(await running).toMatchObject({ parts: [away, { type: "text", text: "a" }] });
  expect([before, streamed()]).toEqual([[["notice"]], ["notice", "a"]]);
});

test("a call names the server whose tool it is, except when the vendor runs it", async () => {
  const preamble = { notices: [], serverOf: (name: string) => (name === "s__t" ? "one" : undefined) };
  const ofVendor = callOf("s__t", { toolCallId: "v", isProviderExecuted: true });
  const { running } = await callWith(preamble, callOf("s__t"), callOf("t"), ofVendor, finish);
  expect(await running).toMatchObject({
    parts: [{ ...callOf("s__t"), mcpServerId: "one" }, callOf("t"), ofVendor],
  });
});

test("parts after a stop are ignored", async () => {
  const { stop, running, streamed } = await call(text("a"), () => stop.abort(), text("b"), finish);
  const parts = [{ type: "text", text: "a" }];
  expect(await running).toEqual({ type: "stopped", parts, usage: estimated(7, 1) });
  expect(streamed()).toEqual(["a"]);
});

const HIGH = "\ud83d";
const LOW = "\ude00";
const think = (value: string): ModelStreamPart => ({ type: "reasoning-delta", text: value });
const input = (toolCallId: string, delta: string): ModelStreamPart => ({
  type: "tool-input-delta",
  toolCallId,
  toolName: "t",
  delta,
});
const part = (type: "text" | "reasoning", words: string) => ({ type, text: words });

test.each<[string, ModelStreamPart[], { streamed: string[]; parts: unknown[] }]>([
  [
    "a pair in two deltas",
    [text(`a${HIGH}`), text(`${LOW}b`)],
    { streamed: ["a😀b"], parts: [part("text", "a😀b")] },
  ],
  [
    "a pair in two deltas of one half each",
    [text(HIGH), text(LOW)],
    { streamed: ["😀"], parts: [part("text", "😀")] },
  ],
  [
    "with figures between them",
    [text(HIGH), { type: "usage", usage }, text(LOW)],
    { streamed: ["😀"], parts: [part("text", "😀")] },
  ],
  ["in reasoning", [think(HIGH), think(LOW)], { streamed: ["😀"], parts: [part("reasoning", "😀")] }],
  [
    "an empty delta between them",
    [text(HIGH), text(""), text(LOW)],
    { streamed: ["😀"], parts: [part("text", "😀")] },
  ],
  ["a half at the end", [text(`a${HIGH}`)], { streamed: ["a\uFFFD"], parts: [part("text", "a\uFFFD")] }],
  [
    "a half before something else",
    [text(`a${HIGH}`), text("b")],
    { streamed: ["a\uFFFDb"], parts: [part("text", "a\uFFFDb")] },
  ],
  [
    "the second half alone",
    [text(`a${LOW}b`)],
    { streamed: ["a\uFFFDb"], parts: [part("text", "a\uFFFDb")] },
  ],
  [
    "two first halves",
    [text(HIGH), text(HIGH + LOW)],
    { streamed: ["\uFFFD😀"], parts: [part("text", "\uFFFD😀")] },
  ],
  [
    "halves in two parts",
    [text(HIGH), think(LOW)],
    { streamed: ["\uFFFD", "\uFFFD"], parts: [part("text", "\uFFFD"), part("reasoning", "\uFFFD")] },
  ],
  [
    "inputs side by side",
    [input("a", HIGH), input("b", HIGH), input("a", LOW), input("b", "x")],
    { streamed: ["😀", "\uFFFDx"], parts: [] },
  ],
  ["zero stays", [text("a\u0000b")], { streamed: ["a\u0000b"], parts: [part("text", "a\u0000b")] }],
])("the live text is the saved text: %s", async (_, steps, expected) => {
  const { running, streamed } = await call(...steps, finish);
  const { parts } = await running;
  // Joined by time; only the order within one part matters.
  expect({ streamed: streamed().join(""), parts }).toEqual({
    streamed: expected.streamed.join(""),
    parts: expected.parts,
  });
});

test("an answer that is stopped in the middle of a character is stored as it was shown", async () => {
  const { running, streamed, stop } = await call(text("a"), text(HIGH), () => stopNow(), text("b"));
  const stopNow = () => stop.abort();
  expect({ ...(await running), streamed: streamed().join("") }).toMatchObject({
    type: "stopped",
    parts: [part("text", "a\uFFFD")],
    streamed: "a\uFFFD",
  });
});

test("arguments are shown as they are stored: without half characters, nested as deeply as can be stored", async () => {
  const odd = { [`k${LOW}`]: `v${HIGH}`, __proto__: null, list: [HIGH + LOW, "\u0000"] };
  const deep: JsonObject = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
  const calls = [odd, deep].map((args, index): ModelStreamPart => ({
    type: "tool-call",
    toolCallId: String(index),
    toolName: "t",
    arguments: args,
  }));
  const { running } = await call(...calls, finish);
  const [first, second] = (await running).parts;
  expect(first).toMatchObject({ arguments: { "k\uFFFD": "v\uFFFD", list: ["😀", "\u0000"] } });
  const retained: unknown = second?.type === "tool-call" ? second.arguments : undefined;
  expect([isDeeperThan(retained, MAX_ARGUMENT_DEPTH), isDeeperThan(retained)]).toEqual([true, false]);
});

const reported = (more: Partial<ReportedUsage>): ModelStreamPart => ({
  type: "usage",
  usage: { ...usage, inputTokens: null, outputTokens: null, ...more },
});
const thought: ModelStreamPart = { type: "reasoning-delta", text: "Hm, hm." };

test.each<[string, ModelStreamPart[], TokenUsage]>([
  ["nothing is estimated whole", [text("Hello there."), finish], estimated(7, 3)],
  ["reasoning is part of the output", [thought, text("Hi."), finish], estimated(7, 6, 4)],
  [
    "zero for its prompt stays as reported",
    [text("Hi."), reported({ inputTokens: 0, outputTokens: 9 }), finish],
    { ...usage, inputTokens: 0, outputTokens: 9 },
  ],
  [
    "only the prompt is estimated for the rest",
    [text("Hello there."), reported({ inputTokens: 50 }), finish],
    estimated(50, 3),
  ],
  [
    "only the answer is estimated for the rest",
    [text("Hi."), reported({ outputTokens: 50 }), finish],
    estimated(7, 50),
  ],
  [
    "what it cached counts as part of the estimated prompt",
    [text("Hi."), reported({ outputTokens: 5, cacheReadTokens: 3 }), finish],
    { ...estimated(4, 5), cacheReadTokens: 3 },
  ],
])("of a vendor that reports %s", async (_, steps, expected) => {
  const { running } = await call(...steps);
  expect(await running).toMatchObject({ type: "completed" });
  expect((await running).usage).toEqual(expected);
});

test("a call that breaks off is billed for what was sent and streamed, arguments included, or for more if the vendor reported more", async () => {
  const input = { type: "tool-input-delta", toolCallId: "c", toolName: "t", delta: "x".repeat(300) } as const;
  const early = reported({ inputTokens: 500, outputTokens: 1 });
  const broken = await (await call(early, text("Hello there."), input)).running;
  expect(broken).toMatchObject({ type: "failed", usage: estimated(500, 103) });
  const known = await (await call(reported({ inputTokens: 500, outputTokens: 80 }), text("Hi."))).running;
  expect(known.usage).toEqual({ ...usage, inputTokens: 500, outputTokens: 80 });
});

test("a call that was refused before it began, or never sent, costs nothing", async () => {
  const refused = await (await call(fail(new ModelCallError(busy, undefined)))).running;
  const stop = new AbortController();
  stop.abort();
  const ports = { clock: new ManualClock(), publish: () => undefined, deltaIntervalMs: () => 15 };
  const open = () => {
    throw new Error("It was sent.");
  };
  const unsent = await callModel({ open, request }, stop.signal, ports);
  expect([refused.usage, unsent]).toEqual([null, { type: "stopped", parts: [], usage: null }]);
});

const length: ModelStreamPart = { type: "finish", reason: "length" };

test("an answer that is cut off ends with a notice, which is published with it", async () => {
  const { running, streamed } = await call(text("Once upon"), length);
  expect(await running).toMatchObject({
    type: "completed",
    finishReason: "length",
    parts: [{ type: "text", text: "Once upon" }, CUT_NOTICE],
  });
  expect(streamed()).toEqual(["Once upon", "notice"]);
});

test("a call that was cut off with the answer is marked, and the turn goes on with it", async () => {
  const input = { type: "tool-input-delta", toolCallId: "c", toolName: "t", delta: '{"a' } as const;
  const { running, streamed } = await call(text("Now"), input, length);
  const cut = { type: "tool-call", toolCallId: "c", toolName: "t", arguments: {}, isCut: true };
  expect(await running).toMatchObject({ parts: [{ type: "text", text: "Now" }, cut] });
  expect(streamed()).toEqual(["Now", '{"a', "tool-call"]);
});
