import { expect, test } from "vitest";
import { SerialQueue } from "./serial-queue.js";

test("a synchronous task runs immediately, in the caller's own call", () => {
  const done: string[] = [];
  const queue = new SerialQueue(() => undefined);
  queue.run(() => void done.push("a"));
  expect(done).toEqual(["a"]);
});

test("tasks run in order: those that arrive while one is pending run after it", async () => {
  const done: string[] = [];
  const queue = new SerialQueue(() => undefined);
  queue.run(async () => {
    await Promise.resolve();
    done.push("a");
    queue.run(() => void done.push("c"));
  });
  queue.run(() => void done.push("b"));
  expect({ done: [...done], waiting: queue.waiting }).toEqual({ done: [], waiting: 1 });
  await new Promise<void>((resolve) => queue.run(resolve));
  expect({ done, waiting: queue.waiting }).toEqual({ done: ["a", "b", "c"], waiting: 0 });
});

test("a task that is queued by a running task runs after it, not inside it", () => {
  const done: string[] = [];
  const queue = new SerialQueue(() => undefined);
  queue.run(() => {
    queue.run(() => void done.push("inner"));
    done.push("outer");
  });
  expect(done).toEqual(["outer", "inner"]);
});

test("a task that throws or rejects is reported, and the next one runs all the same", async () => {
  const failures: unknown[] = [];
  const queue = new SerialQueue((error) => void failures.push(error));
  queue.run(() => {
    throw new Error("thrown");
  });
  queue.run(() => Promise.reject(new Error("rejected")));
  await new Promise<void>((resolve) => queue.run(resolve));
  expect(failures).toEqual([new Error("thrown"), new Error("rejected")]);
});
