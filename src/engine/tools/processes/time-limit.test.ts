import { expect, test } from "vitest";
import { ManualClock } from "../../../../test/agent/manual-clock.js";
import { runWithin } from "./time-limit.js";
import { ToolTimedOut } from "../tool.js";

function start(run: (signal: AbortSignal) => Promise<string>, timeoutMs = 1_000) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const late: unknown[] = [];
  let signal: AbortSignal | undefined;
  const done = runWithin(
    { clock, timeoutMs, signal: stop.signal },
    (own) => {
      signal = own;
      return run(own);
    },
    (error) => late.push(error),
  );
  return { clock, stop, late, done, signal: () => signal };
}

const TIMED_OUT = expect.objectContaining({
  name: "ToolTimedOut",
  message: "The tool was stopped: it did not end within 1s. What it has done so far is not known.",
}) as unknown;

test("a tool that ends in time returns its result, and leaves no timer", async () => {
  const { clock, done, signal } = start(() => Promise.resolve("done"));
  expect(await done).toBe("done");
  clock.advance(10_000);
  expect(signal()?.aborted).toBe(false);
});

test("a tool that listens is aborted with the reason on its timeout", async () => {
  const { clock, done, signal, late } = start(
    (own) =>
      new Promise((_resolve, reject) => own.addEventListener("abort", () => reject(own.reason as Error))),
  );
  clock.advance(1_000);
  await expect(done).rejects.toEqual(TIMED_OUT);
  expect(signal()?.reason).toBeInstanceOf(ToolTimedOut);
  await Promise.resolve();
  expect(late).toEqual([]);
});

test("a tool that ignores its signal is abandoned, and its late failure is reported", async () => {
  let fail: (reason: Error) => void = () => undefined;
  const { clock, done, late } = start(() => new Promise((_resolve, reject) => (fail = reject)));
  clock.advance(1_000);
  await expect(done).rejects.toEqual(TIMED_OUT);
  fail(new Error("much later"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(late).toEqual([new Error("much later")]);
});

test("a result in reaction to the abort comes too late", async () => {
  const { clock, done } = start(
    (own) => new Promise((resolve) => own.addEventListener("abort", () => resolve("half"))),
  );
  clock.advance(1_000);
  await expect(done).rejects.toEqual(TIMED_OUT);
});

test("a stop of the turn reaches the tool with its reason, before and while it runs", async () => {
  const { stop, done, signal } = start(
    (own) => new Promise((resolve) => own.addEventListener("abort", () => resolve("stopped"))),
  );
  stop.abort({ kind: "interrupt" });
  expect([await done, signal()?.reason]).toEqual(["stopped", { kind: "interrupt" }]);
  const clock = new ManualClock();
  const limit = { clock, timeoutMs: 1_000, signal: AbortSignal.abort({ kind: "shutdown" }) };
  expect(
    await runWithin(
      limit,
      (own) => Promise.resolve(own.reason as unknown),
      () => undefined,
    ),
  ).toEqual({
    kind: "shutdown",
  });
});

test("a synchronous throw is a rejection", async () => {
  const { done } = start(() => {
    throw new Error("at once");
  });
  await expect(done).rejects.toThrow("at once");
});

test("an infinite timeout is as long as a timer can be", async () => {
  const { clock, done, signal } = start(() => new Promise(() => undefined), Infinity);
  clock.advance(2 ** 31 - 2);
  expect(signal()?.aborted).toBe(false);
  clock.advance(1);
  await expect(done).rejects.toThrow(ToolTimedOut);
});
