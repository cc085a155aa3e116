import { expect, test } from "vitest";
import { RoundRobinScheduler } from "./round-robin-scheduler.js";

test("keys take turns, however many tasks one of them has", async () => {
  const scheduler = new RoundRobinScheduler();
  const done: string[] = [];
  const task = async (key: string, name: string) => {
    await scheduler.next(key);
    done.push(name);
  };
  const all = [task("a", "a1"), task("a", "a2"), task("a", "a3"), task("b", "b1"), task("c", "c1")];
  expect(scheduler.waiting).toBe(4);
  await Promise.all(all);
  expect(done).toEqual(["a1", "a2", "b1", "c1", "a3"]);
  expect(scheduler.waiting).toBe(0);
});

test("the event loop runs between two tasks", async () => {
  const scheduler = new RoundRobinScheduler();
  const seen: string[] = [];
  const task = async (name: string) => {
    await scheduler.next("a");
    seen.push(name);
    setImmediate(() => seen.push(`after ${name}`));
  };
  await Promise.all([task("1"), task("2"), task("3")]);
  expect(seen.slice(0, 4)).toEqual(["1", "2", "after 1", "3"]);
});
