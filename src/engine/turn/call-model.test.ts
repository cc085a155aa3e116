import { expect, test } from "vitest";
import type { LivePiece } from "../../domain/chat-events.js";
import { ModelCallError, type ChatFailure } from "../../domain/failures.js";
import type { ModelStreamPart } from "../../providers/types.js";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import type { JsonObject } from "../../domain/json.js";
import { isDeeperThan, MAX_ARGUMENT_DEPTH } from "../../domain/json-depth.js";
import type { NoticePart } from "../../domain/message-parts.js";
import { NO_ADDITIONS, type Additions } from "./accumulate.js";
import { callModel } from "./call-model.js";

const usage = {
  inputTokens: 1,
  outputTokens: 2,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
const text = (words: string): ModelStreamPart => ({ type: "text-delta", text: words });
const finish: ModelStreamPart = { type: "finish", reason: "stop" };
const busy: ChatFailure = { kind: "overloaded", message: "Busy.", isRetryable: true };

/** Each step is a part of the stream or something that happens to it. */
type Step = ModelStreamPart | ((shown: () => string[]) => void);

async function call(...steps: Step[]) {
  return callWith(NO_ADDITIONS, ...steps);
}

async function callWith(additions: Additions, ...steps: Step[]) {
  const stop = new AbortController();
  const clock = new ManualClock();
  const pieces: LivePiece[] = [];
  async function* open(): AsyncGenerator<ModelStreamPart> {
    for (const step of steps) {
      await Promise.resolve();
      if (typeof step === "function") step(shown);
      else yield step;
    }
  }
  const shown = () => pieces.map(({ piece }) => ("append" in piece ? piece.append : piece.type));
  const announce = (more: LivePiece[]) => void pieces.push(...more);
  const running = callModel(open, stop.signal, { clock, announce, pieceIntervalMs: () => 15 }, additions);
  return {
    stop,
    running,
    shown,
  };
}

const fail = (error: unknown) => () => {
  throw error;
};

test("a whole answer is completed, and all of it was shown", async () => {
  const { running, shown } = await call(text("a"), text("b"), { type: "usage", usage }, text("c"), finish);
  expect(await running).toEqual({
    type: "completed",
    parts: [{ type: "text", text: "abc" }],
    usage,
    finishReason: "stop",
    responseId: null,
  });
  expect(shown()).toEqual(["a", "bc"]);
});

test("an answer that breaks off is a failure that is worth another try", async () => {
  const { running, shown } = await call(text("a"), text("b"));
  expect(await running).toEqual({
    type: "failed",
    failure: {
      kind: "timeout",
      message: "The model's answer broke off before it was complete.",
      isRetryable: true,
    },
    parts: [{ type: "text", text: "ab" }],
    usage: null,
    retryAfterMs: undefined,
    contextLimit: undefined,
    cause: undefined,
  });
  expect(shown()).toEqual(["a", "b"]);
});

test("a vendor's refusal is passed on with its wish and its cause", async () => {
  const error = new ModelCallError(busy, 7_000);
  const { running } = await call(text("a"), fail(error));
  expect(await running).toEqual({
    type: "failed",
    failure: busy,
    parts: [{ type: "text", text: "a" }],
    usage: null,
    retryAfterMs: 7_000,
    contextLimit: undefined,
    cause: error,
  });
});

test("a bug is thrown on", async () => {
  const { running } = await call(text("a"), fail(new TypeError("a bug")));
  await expect(running).rejects.toThrow("a bug");
});

test.each([
  ["when the stream just ends", undefined],
  ["when the vendor's error comes with it", new ModelCallError(busy, undefined)],
  ["when the abort itself is thrown", new DOMException("aborted", "AbortError")],
])("a stop keeps what had arrived, and shows it, %s", async (_name, error) => {
  const { stop, running, shown } = await call(text("a"), text("b"), { type: "usage", usage }, () => {
    stop.abort({ kind: "interrupt" });
    if (error) throw error;
  });
  expect(await running).toEqual({ type: "stopped", parts: [{ type: "text", text: "ab" }], usage });
  expect(shown()).toEqual(["a", "b"]);
});

const away: NoticePart = { type: "notice", level: "warning", text: "It is away.", mcpServerId: "one" };
const callOf = (toolName: string, more = {}): ModelStreamPart & { type: "tool-call" } => ({
  ...{ type: "tool-call", toolCallId: toolName, toolName, arguments: {} },
  ...more,
});

test("notices stand first in the message, and are shown before the model has said a word", async () => {
  const additions = { ...NO_ADDITIONS, notices: [away] };
  const before: string[][] = [];
  const look = (soFar: () => string[]) => void before.push(soFar());
  const { running, shown } = await callWith(additions, look, text("a"), finish);
  expect(await running).toMatchObject({ parts: [away, { type: "text", text: "a" }] });
  expect([before, shown()]).toEqual([[["notice"]], ["notice", "a"]]);
});

test("a call names the server whose tool it is, except when the vendor runs it", async () => {
  const additions = { notices: [], serverOf: (name: string) => (name === "s__t" ? "one" : undefined) };
  const ofVendor = callOf("s__t", { toolCallId: "v", isProviderExecuted: true });
  const { running } = await callWith(additions, callOf("s__t"), callOf("t"), ofVendor, finish);
  expect(await running).toMatchObject({
    parts: [{ ...callOf("s__t"), mcpServerId: "one" }, callOf("t"), ofVendor],
  });
});

test("what arrives after a stop is not taken", async () => {
  const { stop, running, shown } = await call(text("a"), () => stop.abort(), text("b"), finish);
  expect(await running).toEqual({ type: "stopped", parts: [{ type: "text", text: "a" }], usage: null });
  expect(shown()).toEqual(["a"]);
});

const HIGH = "\ud83d";
const LOW = "\ude00";
const think = (words: string): ModelStreamPart => ({ type: "reasoning-delta", text: words });
const input = (toolCallId: string, delta: string): ModelStreamPart => ({
  type: "tool-input-delta",
  toolCallId,
  toolName: "t",
  delta,
});
const part = (type: "text" | "reasoning", words: string) => ({ type, text: words });

test.each<[string, ModelStreamPart[], { shown: string[]; parts: unknown[] }]>([
  [
    "a pair in two deltas",
    [text(`a${HIGH}`), text(`${LOW}b`)],
    { shown: ["a😀b"], parts: [part("text", "a😀b")] },
  ],
  [
    "a pair in two deltas of one half each",
    [text(HIGH), text(LOW)],
    { shown: ["😀"], parts: [part("text", "😀")] },
  ],
  [
    "with figures between them",
    [text(HIGH), { type: "usage", usage }, text(LOW)],
    { shown: ["😀"], parts: [part("text", "😀")] },
  ],
  ["in reasoning", [think(HIGH), think(LOW)], { shown: ["😀"], parts: [part("reasoning", "😀")] }],
  [
    "an empty delta between them",
    [text(HIGH), text(""), text(LOW)],
    { shown: ["😀"], parts: [part("text", "😀")] },
  ],
  ["a half at the end", [text(`a${HIGH}`)], { shown: ["a\uFFFD"], parts: [part("text", "a\uFFFD")] }],
  [
    "a half before something else",
    [text(`a${HIGH}`), text("b")],
    { shown: ["a\uFFFDb"], parts: [part("text", "a\uFFFDb")] },
  ],
  ["the second half alone", [text(`a${LOW}b`)], { shown: ["a\uFFFDb"], parts: [part("text", "a\uFFFDb")] }],
  [
    "two first halves",
    [text(HIGH), text(HIGH + LOW)],
    { shown: ["\uFFFD😀"], parts: [part("text", "\uFFFD😀")] },
  ],
  [
    "halves in two parts",
    [text(HIGH), think(LOW)],
    { shown: ["\uFFFD", "\uFFFD"], parts: [part("text", "\uFFFD"), part("reasoning", "\uFFFD")] },
  ],
  [
    "inputs side by side",
    [input("a", HIGH), input("b", HIGH), input("a", LOW), input("b", "x")],
    { shown: ["😀", "\uFFFDx"], parts: [] },
  ],
  ["zero stays", [text("a\u0000b")], { shown: ["a\u0000b"], parts: [part("text", "a\u0000b")] }],
])("the live text is the saved text: %s", async (_, steps, expected) => {
  const { running, shown } = await call(...steps, finish);
  const { parts } = await running;
  // Joined by time; the order of what belongs to one part is what counts.
  expect({ shown: shown().join(""), parts }).toEqual({
    shown: expected.shown.join(""),
    parts: expected.parts,
  });
});

test("an answer that is stopped in the middle of a character is kept as it was shown", async () => {
  const { running, shown, stop } = await call(text("a"), text(HIGH), () => stopNow(), text("b"));
  const stopNow = () => stop.abort();
  expect({ ...(await running), shown: shown().join("") }).toMatchObject({
    type: "stopped",
    parts: [part("text", "a\uFFFD")],
    shown: "a\uFFFD",
  });
});

test("arguments are shown as they are saved: without half characters, nested as deeply as can be kept", async () => {
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
  const kept: unknown = second?.type === "tool-call" ? second.arguments : undefined;
  expect([isDeeperThan(kept, MAX_ARGUMENT_DEPTH), isDeeperThan(kept)]).toEqual([true, false]);
});
