import { expect, test } from "vitest";
import { PathLocks } from "./path-locks.js";

test("changes of one path happen one after the other, also when one fails", async () => {
  const locks = new PathLocks();
  const events: string[] = [];
  const change = (name: string) => async () => {
    events.push(`${name} begins`);
    await Promise.resolve();
    events.push(`${name} ends`);
    if (name === "second") throw new Error("broken");
  };
  const results = await Promise.allSettled([
    locks.runExclusive(["/a", "/b"], change("first")),
    locks.runExclusive(["/b", "/c"], change("second")),
    locks.runExclusive(["/c", "/a"], change("third")),
  ]);
  expect(events).toEqual([
    "first begins",
    "first ends",
    "second begins",
    "second ends",
    "third begins",
    "third ends",
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("changes of different paths do not wait for each other", async () => {
  const locks = new PathLocks();
  let release = () => {};
  const pending = locks.runExclusive(["/a"], () => new Promise<void>((resolve) => (release = resolve)));
  expect(await locks.runExclusive(["/b"], () => Promise.resolve("done"))).toBe("done");
  release();
  await pending;
});
