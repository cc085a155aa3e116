import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { ManualClock } from "../../test/agent/manual-clock.js";
import { FreeSpace, freeBytesOf } from "./free-space.js";
import { createLog } from "./log.js";

async function watched(minBytes: number, ...readings: (number | Error)[]) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg);
  const log = createLog("info", "test", { write });
  const clock = new ManualClock();
  const left = [...readings];
  const read = () => {
    const next = left.shift() ?? new Error("no reading is left");
    return typeof next === "number" ? Promise.resolve(next) : Promise.reject(next);
  };
  const space = new FreeSpace({ read, minBytes, clock, log });
  await space.start();
  const states = [space.isLow];
  while (left.length > 0) {
    clock.advance(10_000);
    await new Promise(setImmediate);
    states.push(space.isLow);
  }
  return { space, states, lines };
}

const FULL = "The disk is almost full: nothing new is stored until there is space again";
const AGAIN = "There is disk space again";

test("below the mark the space is low until there is a tenth more than the mark, and each change is logged once", async () => {
  const { states, lines } = await watched(100, 100, 99, 50, 109, 110, 100, 99);
  expect(states).toEqual([false, true, true, true, false, false, true]);
  expect(lines).toEqual([FULL, AGAIN, FULL]);
});

test("a reading that fails changes nothing and is logged once, and no mark means never low", async () => {
  const failing = await watched(100, 50, new Error("gone"), new Error("gone"), 200);
  expect(failing.states).toEqual([true, true, true, false]);
  expect(failing.lines).toEqual([FULL, "Free disk space cannot be read", AGAIN]);
  expect((await watched(0, 0, 5)).states).toEqual([false, false]);
});

test("what would bring the space below the mark has no room, by a reading made now", async () => {
  const read = () => Promise.resolve(150);
  const space = new FreeSpace({ read, minBytes: 100, clock: new ManualClock(), log: createLog("silent") });
  expect([await space.hasRoomFor(50), await space.hasRoomFor(51)]).toEqual([true, false]);
});

test("the space of a real folder is read", async () => {
  expect(await freeBytesOf(tmpdir())).toBeGreaterThan(0);
});
