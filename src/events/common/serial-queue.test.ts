import { expect, test } from "vitest";
import { OneByOne } from "./serial-queue.js";

test("work that waits for nothing is done in the caller's own call", () => {
  const done: string[] = [];
  const work = new OneByOne(() => undefined);
  work.do(() => void done.push("a"));
  expect(done).toEqual(["a"]);
});

test("work is done in order: what comes while something waits has its turn afterwards", async () => {
  const done: string[] = [];
  const work = new OneByOne(() => undefined);
  work.do(async () => {
    await Promise.resolve();
    done.push("a");
    work.do(() => void done.push("c"));
  });
  work.do(() => void done.push("b"));
  expect({ done: [...done], waiting: work.waiting }).toEqual({ done: [], waiting: 1 });
  await new Promise<void>((resolve) => work.do(resolve));
  expect({ done, waiting: work.waiting }).toEqual({ done: ["a", "b", "c"], waiting: 0 });
});

test("work that asks for more work while it is done does not run inside itself", () => {
  const done: string[] = [];
  const work = new OneByOne(() => undefined);
  work.do(() => {
    work.do(() => void done.push("inner"));
    done.push("outer");
  });
  expect(done).toEqual(["outer", "inner"]);
});

test("work that throws or rejects is told of, and the next is done all the same", async () => {
  const failures: unknown[] = [];
  const work = new OneByOne((error) => void failures.push(error));
  work.do(() => {
    throw new Error("thrown");
  });
  work.do(() => Promise.reject(new Error("rejected")));
  await new Promise<void>((resolve) => work.do(resolve));
  expect(failures).toEqual([new Error("thrown"), new Error("rejected")]);
});
