import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { ManualClock } from "../../test/agent/manual-clock.js";
import { FreeSpace, freeBytesOf } from "./free-space.js";
import { createLog } from "./log.js";

async function monitored(minBytes: number, ...readings: (number | Error)[]) {
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

const FULL = "disk almost full: writes are refused until there is space";
const RECOVERED = "disk space recovered";

test("space is low from below the minimum until a tenth above it, and each change is logged once", async () => {
  const { states, lines } = await monitored(100, 100, 99, 50, 109, 110, 100, 99);
  expect(states).toEqual([false, true, true, true, false, false, true]);
  expect(lines).toEqual([FULL, RECOVERED, FULL]);
});

test("a failed reading changes nothing and is logged once, and without a minimum space is never low", async () => {
  const failing = await monitored(100, 50, new Error("gone"), new Error("gone"), 200);
  expect(failing.states).toEqual([true, true, true, false]);
  expect(failing.lines).toEqual([FULL, "free disk space cannot be read", RECOVERED]);
  expect((await monitored(0, 0, 5)).states).toEqual([false, false]);
});

test("there is no space for what would leave less than the minimum, by a reading made now", async () => {
  const read = () => Promise.resolve(150);
  const space = new FreeSpace({ read, minBytes: 100, clock: new ManualClock(), log: createLog("silent") });
  expect([await space.hasSpaceFor(50), await space.hasSpaceFor(51)]).toEqual([true, false]);
});

test("the free space of a real folder is read", async () => {
  expect(await freeBytesOf(tmpdir())).toBeGreaterThan(0);
});
