import { describe, expect, test } from "vitest";
import type { Clock } from "../../lib/clock.js";
import { FINISHED_GRACE_MS, SilenceError, WatchedStream } from "./watchdog.js";

/** A manually advanced clock. */
function createHandClock(): Clock & { advance(ms: number): void; timers(): number } {
  let now = 0;
  let timers: { at: number; callback: () => void }[] = [];
  const clock = {
    now: () => now,
    after(ms: number, callback: () => void) {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return () => (timers = timers.filter((other) => other !== timer));
    },
    every: () => () => undefined,
    timers: () => timers.length,
    advance(ms: number) {
      const end = now + ms;
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = next.at;
        next.callback();
      }
      now = end;
    },
  };
  return clock;
}

/** A source whose events the test sends. */
function createHandSource() {
  const events: string[] = [];
  let wake = () => {};
  let wasStopped = false;
  return {
    push(event: string) {
      events.push(event);
      wake();
    },
    wasStopped: () => wasStopped,
    open: async (signal: AbortSignal): Promise<AsyncIterable<string>> => {
      signal.addEventListener("abort", () => (wasStopped = true));
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            while (events.length === 0) await new Promise<void>((resolve) => (wake = resolve));
            return { done: false, value: events.shift() ?? "" };
          },
        }),
      };
    },
  };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function setUp(signal = new AbortController().signal) {
  const clock = createHandClock();
  const source = createHandSource();
  const stream = new WatchedStream(source.open, signal, { clock, startupTimeoutMs: 60, stallTimeoutMs: 100 });
  return { clock, source, stream };
}

describe("WatchedStream", () => {
  test("gives up when nothing comes in time, and aborts the source", async () => {
    const { clock, source, stream } = setUp();
    const next = stream.next();
    const outcome = expect(next).rejects.toEqual(new SilenceError("startup", 60));
    await settle();
    clock.advance(60);
    await outcome;
    expect([source.wasStopped(), clock.timers()]).toEqual([true, 0]);
  });

  test("gives up when opening takes too long", async () => {
    const clock = createHandClock();
    const limits = { clock, startupTimeoutMs: 60, stallTimeoutMs: 100 };
    const stream = new WatchedStream<string>(
      () => new Promise(() => {}),
      new AbortController().signal,
      limits,
    );
    const outcome = expect(stream.next()).rejects.toEqual(new SilenceError("startup", 60));
    clock.advance(60);
    await outcome;
  });

  test("gives up when the stream falls silent between two events", async () => {
    const { clock, source, stream } = setUp();
    source.push("a");
    expect(await stream.next()).toEqual({ done: false, value: "a" });
    const outcome = expect(stream.next()).rejects.toEqual(new SilenceError("stream", 100));
    await settle();
    clock.advance(200);
    await outcome;
  });

  test("events just in time keep the stream alive", async () => {
    const { clock, source, stream } = setUp();
    const seen: unknown[] = [];
    for (const [event, ms] of [
      ["a", 59],
      ["b", 99],
      ["c", 99],
      ["d", 99],
    ] as const) {
      const next = stream.next();
      await settle();
      clock.advance(ms);
      source.push(event);
      seen.push((await next).value);
    }
    expect(seen).toEqual(["a", "b", "c", "d"]);
  });

  test("the time that the consumer takes does not count", async () => {
    const { clock, source, stream } = setUp();
    source.push("a");
    await stream.next();
    clock.advance(10_000);
    const next = stream.next();
    await settle();
    clock.advance(50);
    source.push("b");
    expect((await next).value).toBe("b");
  });

  test("once its end is expected, a short silence is the end, and no failure", async () => {
    const { clock, source, stream } = setUp();
    source.push("a");
    await stream.next();
    stream.expectEnd();
    const usage = stream.next();
    await settle();
    clock.advance(FINISHED_GRACE_MS - 1);
    source.push("usage");
    expect((await usage).value).toBe("usage");
    stream.expectEnd();
    const end = stream.next();
    await settle();
    clock.advance(FINISHED_GRACE_MS);
    expect(await end).toEqual({ done: true, value: undefined });
    expect([source.wasStopped(), clock.timers()]).toEqual([true, 0]);
  });

  test("an abort ends it at once, without an error, even when the source does not listen", async () => {
    const controller = new AbortController();
    const { clock, source, stream } = setUp(controller.signal);
    const next = stream.next();
    await settle();
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect([source.wasStopped(), clock.timers()]).toEqual([true, 0]);
  });

  test("a consumer that has seen enough lets the source end by itself, and stops it when it does not", async () => {
    const { clock, source, stream } = setUp();
    source.push("a");
    for await (const event of stream) {
      expect(event).toBe("a");
      break;
    }
    expect([source.wasStopped(), clock.timers()]).toEqual([false, 1]);
    clock.advance(1_000);
    expect([source.wasStopped(), clock.timers()]).toEqual([true, 0]);
  });

  test("an error of the source comes through as it is", async () => {
    const failure = new Error("broken");
    const limits = { clock: createHandClock(), startupTimeoutMs: 60, stallTimeoutMs: 100 };
    const stream = new WatchedStream<string>(
      () => Promise.reject(failure),
      new AbortController().signal,
      limits,
    );
    await expect(stream.next()).rejects.toBe(failure);
  });
});
