import { expect, test } from "vitest";
import type { Clock } from "../clock.js";
import { BoundedSemaphore, type Release } from "./bounded-semaphore.js";

/** A semaphore whose timers the test fires. */
class StoppedClock implements Clock {
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

const limits = { maxRunning: 2, maxWaiting: 2, waitMs: 100 };

test("as many as allowed run at once, the others follow in the order of their calls", async () => {
  const clock = new StoppedClock();
  const semaphore = new BoundedSemaphore(limits, clock);
  const releases: (Release | null)[] = [await semaphore.acquire(), await semaphore.acquire()];
  const order: string[] = [];
  const third = semaphore.acquire().then((release) => (order.push("third"), release));
  const fourth = semaphore.acquire().then((release) => (order.push("fourth"), release));
  expect(semaphore.count()).toEqual({ running: 2, waiting: 2 });
  releases[0]?.();
  releases[0]?.();
  (await third)?.();
  (await fourth)?.();
  releases[1]?.();
  expect({ order, count: semaphore.count(), timers: clock.timers.size }).toEqual({
    order: ["third", "fourth"],
    count: { running: 0, waiting: 0 },
    timers: 0,
  });
});

test("a caller that finds the queue full is refused at once", async () => {
  const semaphore = new BoundedSemaphore({ ...limits, maxWaiting: 0 }, new StoppedClock());
  await semaphore.acquire();
  await semaphore.acquire();
  expect(await semaphore.acquire()).toBeNull();
});

test("a caller that waits too long is refused and leaves the queue", async () => {
  const clock = new StoppedClock();
  const semaphore = new BoundedSemaphore(limits, clock);
  await semaphore.acquire();
  await semaphore.acquire();
  const late = semaphore.acquire();
  for (const expire of clock.timers) expire();
  expect({ late: await late, count: semaphore.count(), timers: clock.timers.size }).toEqual({
    late: null,
    count: { running: 2, waiting: 0 },
    timers: 0,
  });
});

test("closing refuses waiting and later callers", async () => {
  const clock = new StoppedClock();
  const semaphore = new BoundedSemaphore({ ...limits, maxRunning: 1 }, clock);
  const release = await semaphore.acquire();
  const waiting = semaphore.acquire();
  semaphore.close();
  release?.();
  expect([await waiting, await semaphore.acquire(), clock.timers.size]).toEqual([null, null, 0]);
});
