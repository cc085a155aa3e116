import { expect, test } from "vitest";
import { FairTurns } from "./fair-turns.js";

test("keys take turns, however many pieces of work one of them has", async () => {
  const turns = new FairTurns();
  const done: string[] = [];
  const work = async (key: string, name: string) => {
    await turns.next(key);
    done.push(name);
  };
  const all = [work("a", "a1"), work("a", "a2"), work("a", "a3"), work("b", "b1"), work("c", "c1")];
  expect(turns.waiting).toBe(4);
  await Promise.all(all);
  expect(done).toEqual(["a1", "a2", "b1", "c1", "a3"]);
  expect(turns.waiting).toBe(0);
});

test("between two pieces of work the event loop goes on", async () => {
  const turns = new FairTurns();
  const seen: string[] = [];
  const work = async (name: string) => {
    await turns.next("a");
    seen.push(name);
    setImmediate(() => seen.push(`after ${name}`));
  };
  await Promise.all([work("1"), work("2"), work("3")]);
  expect(seen.slice(0, 4)).toEqual(["1", "2", "after 1", "3"]);
});
