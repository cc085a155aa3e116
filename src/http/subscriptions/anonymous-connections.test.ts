import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { pino } from "pino";
import { ManualClock } from "../../../test/http/support.js";
import { NO_PROXIES, readAddresses } from "../common/client-address.js";
import { REPORT_INTERVAL_MS, Strangers } from "./anonymous-connections.js";

function setUp(maxStrangersPerAddress: number, maxStrangers = 100) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const clock = new ManualClock();
  const limits = { maxStrangersPerAddress, maxStrangers };
  const strangers = new Strangers({ limits, addressOf: readAddresses(NO_PROXIES), clock, log });
  const come = (address: string) => {
    const connection = new PassThrough();
    strangers.add(connection, address);
    return connection;
  };
  return { strangers, come, clock, lines };
}

const isCut = (connection: PassThrough) => connection.destroyed;

test("one stranger more from an address cuts its oldest, and nobody from elsewhere", () => {
  const { strangers, come } = setUp(2);
  const others = [come("b"), come("b")];
  const some = [come("a"), come("a"), come("a"), come("a")];
  expect(some.map(isCut)).toEqual([true, true, false, false]);
  expect(others.map(isCut)).toEqual([false, false]);
  expect(strangers.count).toBe(4);
});

test("one stranger more than there may be cuts the oldest of all", () => {
  const { come } = setUp(2, 3);
  const some = ["a", "b", "c", "d"].map(come);
  expect(some.map(isCut)).toEqual([true, false, false, false]);
});

test("whoever is known is never cut, until they are a stranger again", () => {
  const { strangers, come } = setUp(1);
  const known = come("a");
  strangers.forget(known);
  expect([come("a"), come("a")].map(isCut)).toEqual([true, false]);
  expect(known.destroyed).toBe(false);
  strangers.add(known, "a");
  expect([come("a"), known].map(isCut)).toEqual([false, true]);
});

test("those who leave are not counted, and leave nothing behind", async () => {
  const { strangers, come } = setUp(2);
  const some = [come("a"), come("b")];
  for (const connection of some) connection.destroy();
  await Promise.all(some.map((connection) => new Promise((resolve) => connection.once("close", resolve))));
  expect(strangers.count).toBe(0);
  strangers.add(some[0] ?? come("a"), "a");
  strangers.forget(some[0] ?? come("a"));
  expect(some[0]?.listenerCount("close")).toBe(0);
});

test("however many are cut, the log says so once in a minute", () => {
  const { come, clock, lines } = setUp(1);
  for (let times = 0; times < 100; times += 1) come("a");
  clock.advance(REPORT_INTERVAL_MS);
  come("a");
  expect(lines.map(({ cut, lastAddress }) => ({ cut, lastAddress }))).toEqual([
    { cut: 1, lastAddress: "a" },
    { cut: 99, lastAddress: "a" },
  ]);
});
