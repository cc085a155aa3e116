import { expect, test } from "vitest";
import type { LivePiece } from "../../domain/chat-events.js";
import { ModelCallError, type ChatFailure } from "../../domain/failures.js";
import type { ModelStreamPart } from "../../providers/types.js";
import { ManualClock } from "../../../test/agent/manual-clock.js";
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
