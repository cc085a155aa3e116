import { expect, test } from "vitest";
import type { LivePiece } from "../../domain/chat-events.js";
import { ModelCallError, type ChatFailure } from "../../domain/failures.js";
import type { ModelStreamPart } from "../../providers/types.js";
import { ManualClock } from "../../../test/agent/manual-clock.js";
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
type Step = ModelStreamPart | (() => void);

async function call(...steps: Step[]) {
  const stop = new AbortController();
  const clock = new ManualClock();
  const pieces: LivePiece[] = [];
  async function* open(): AsyncGenerator<ModelStreamPart> {
    for (const step of steps) {
      await Promise.resolve();
      if (typeof step === "function") step();
      else yield step;
    }
  }
  const announce = (more: LivePiece[]) => void pieces.push(...more);
  const running = callModel(open, stop.signal, { clock, announce, pieceIntervalMs: () => 15 });
  return {
    stop,
    running,
    shown: () => pieces.map(({ piece }) => ("append" in piece ? piece.append : piece.type)),
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

test("what arrives after a stop is not taken", async () => {
  const { stop, running, shown } = await call(text("a"), () => stop.abort(), text("b"), finish);
  expect(await running).toEqual({ type: "stopped", parts: [{ type: "text", text: "a" }], usage: null });
  expect(shown()).toEqual(["a"]);
});
