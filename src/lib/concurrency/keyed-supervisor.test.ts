import { expect, test } from "vitest";
import { ManualClock } from "../../../test/agent/manual-clock.js";
import { KeyedSupervisor } from "./keyed-supervisor.js";
import { SupervisedTask, type AttemptEnd } from "./supervised-task.js";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A task whose attempts end when the test ends them, or when it is closed. */
function taskWith(options: { maxFailures?: number; random?: () => number } = {}) {
  const clock = new ManualClock();
  const events: string[] = [];
  let end: (end: AttemptEnd) => void = () => undefined;
  const task = new SupervisedTask({
    clock,
    random: options.random ?? (() => 0),
    firstDelayMs: 100,
    maxDelayMs: 300,
    ...(options.maxFailures !== undefined && { maxFailures: options.maxFailures }),
    attempt: (signal) => {
      events.push("attempt");
      return new Promise((resolve) => {
        end = resolve;
        signal.addEventListener("abort", () => resolve({ wasHealthy: true, reason: "closed" }), {
          once: true,
        });
      });
    },
    onRetry: (reason, delayMs) => events.push(`${String(reason)}: retry in ${delayMs}`),
    onGiveUp: (reason) => events.push(`${String(reason)}: gave up`),
  });
  const finish = async (reason: string, wasHealthy = false) => {
    end({ wasHealthy, reason });
    await settle();
  };
  const advance = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { task, events, finish, advance };
}

test("an attempt that ends is followed by another, later each time until one was healthy", async () => {
  const { events, finish, advance } = taskWith();
  for (const delayMs of [100, 200, 300, 300]) {
    await finish("lost");
    await advance(delayMs - 1);
    expect(events.at(-1)).toBe(`lost: retry in ${delayMs}`);
    await advance(1);
    expect(events.at(-1)).toBe("attempt");
  }
  await finish("lost", true);
  expect(events.at(-1)).toBe("lost: retry in 100");
});

test("the delay has jitter, and can be cut short", async () => {
  const { task, events, finish, advance } = taskWith({ random: () => 0.5 });
  await finish("lost");
  await advance(149);
  expect(events).toEqual(["attempt", "lost: retry in 100"]);
  await advance(1);
  await finish("lost");
  task.retryNow();
  await settle();
  expect(events.slice(2)).toEqual(["attempt", "lost: retry in 200", "attempt"]);
});

test("too many failures in a row end it, healthy attempts in between do not count", async () => {
  const { task, events, finish, advance } = taskWith({ maxFailures: 2 });
  for (const wasHealthy of [false, true, false, false]) {
    await finish("lost", wasHealthy);
    await advance(300);
  }
  await task.ended;
  expect(events.slice(-4)).toEqual(["attempt", "lost: retry in 200", "attempt", "lost: gave up"]);
});

test("closing ends an attempt, or the delay before the next one", async () => {
  const attempting = taskWith();
  attempting.task.close();
  await attempting.task.ended;
  expect(attempting.events).toEqual(["attempt"]);
  const waiting = taskWith();
  await waiting.finish("lost");
  waiting.task.close();
  await waiting.task.ended;
  expect(waiting.events).toEqual(["attempt", "lost: retry in 100"]);
});

/** A task that ends only when the test ends it, even after it was closed. */
function running() {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { ended, end, close: () => undefined };
}

test("each key has one, which is started when it is first needed and again after it ended", async () => {
  const supervisor = new KeyedSupervisor<ReturnType<typeof running>>();
  const first = supervisor.ensure("a", running);
  expect(supervisor.ensure("a", running)).toBe(first);
  supervisor.ensure("b", running);
  supervisor.ensure("a", running);
  expect([supervisor.size, supervisor.leastRecentlyUsed]).toEqual([2, "b"]);
  first.end();
  await settle();
  expect(supervisor.get("a")).toBeUndefined();
  expect(supervisor.ensure("a", running)).not.toBe(first);
});

test("closing waits for all, also for those that were stopped before", async () => {
  const supervisor = new KeyedSupervisor<ReturnType<typeof running>>();
  const [one, two] = [supervisor.ensure("a", running), supervisor.ensure("b", running)];
  void supervisor.stop("a");
  expect(supervisor.get("a")).toBeUndefined();
  let isClosed = false;
  const closing = supervisor.close().then(() => (isClosed = true));
  two.end();
  await settle();
  expect(isClosed).toBe(false);
  one.end();
  await closing;
  expect(() => supervisor.ensure("c", running)).toThrow("closed");
});
