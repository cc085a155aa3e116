import { expect, test } from "vitest";
import type { Clock } from "../clock.js";
import { Turnstile, type Leave } from "./bounded-semaphore.js";

/** Timers run when they are told to. */
class HeldClock implements Clock {
  readonly timers = new Set<() => void>();
  now(): number {
    return 0;
  }
  after(_ms: number, callback: () => void): () => void {
    this.timers.add(callback);
    return () => this.timers.delete(callback);
  }
  every(ms: number, callback: () => void): () => void {
    return this.after(ms, callback);
  }
}

const bounds = { inside: 2, waiting: 2, waitMs: 100 };

test("as many as allowed are inside, others follow in the order in which they came", async () => {
  const clock = new HeldClock();
  const turnstile = new Turnstile(bounds, clock);
  const leaves: (Leave | null)[] = [await turnstile.enter(), await turnstile.enter()];
  const order: string[] = [];
  const third = turnstile.enter().then((leave) => (order.push("third"), leave));
  const fourth = turnstile.enter().then((leave) => (order.push("fourth"), leave));
  expect(turnstile.count()).toEqual({ inside: 2, waiting: 2 });
  leaves[0]?.();
  leaves[0]?.();
  (await third)?.();
  (await fourth)?.();
  leaves[1]?.();
  expect({ order, count: turnstile.count(), timers: clock.timers.size }).toEqual({
    order: ["third", "fourth"],
    count: { inside: 0, waiting: 0 },
    timers: 0,
  });
});

test("who finds too many waiting is sent away at once", async () => {
  const turnstile = new Turnstile({ ...bounds, waiting: 0 }, new HeldClock());
  await turnstile.enter();
  await turnstile.enter();
  expect(await turnstile.enter()).toBeNull();
});

test("who waits for too long is sent away, and leaves its place in the row", async () => {
  const clock = new HeldClock();
  const turnstile = new Turnstile(bounds, clock);
  await turnstile.enter();
  await turnstile.enter();
  const late = turnstile.enter();
  for (const expire of clock.timers) expire();
  expect({ late: await late, count: turnstile.count(), timers: clock.timers.size }).toEqual({
    late: null,
    count: { inside: 2, waiting: 0 },
    timers: 0,
  });
});

test("at its end who waits is sent away, and so is whoever comes", async () => {
  const clock = new HeldClock();
  const turnstile = new Turnstile({ ...bounds, inside: 1 }, clock);
  const leave = await turnstile.enter();
  const waiting = turnstile.enter();
  turnstile.close();
  leave?.();
  expect([await waiting, await turnstile.enter(), clock.timers.size]).toEqual([null, null, 0]);
});
