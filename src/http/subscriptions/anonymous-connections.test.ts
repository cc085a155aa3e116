import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { pino } from "pino";
import { ManualClock } from "../../../test/http/support.js";
import { NO_PROXIES, readAddresses } from "../common/client-address.js";
import { REPORT_INTERVAL_MS, AnonymousConnections } from "./anonymous-connections.js";

function setUp(maxAnonymousPerAddress: number, maxAnonymousConnections = 100) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const clock = new ManualClock();
  const limits = { maxAnonymousPerAddress, maxAnonymousConnections };
  const connections = new AnonymousConnections({ limits, addressOf: readAddresses(NO_PROXIES), clock, log });
  const come = (address: string) => {
    const connection = new PassThrough();
    connections.add(connection, address);
    return connection;
  };
  return { connections, come, clock, lines };
}

const isCut = (connection: PassThrough) => connection.destroyed;

test("one connection too many from an address terminates the oldest from there, and none from elsewhere", () => {
  const { connections, come } = setUp(2);
  const others = [come("b"), come("b")];
  const some = [come("a"), come("a"), come("a"), come("a")];
  expect(some.map(isCut)).toEqual([true, true, false, false]);
  expect(others.map(isCut)).toEqual([false, false]);
  expect(connections.count).toBe(4);
});

test("one connection too many in total terminates the oldest of all", () => {
  const { come } = setUp(2, 3);
  const some = ["a", "b", "c", "d"].map(come);
  expect(some.map(isCut)).toEqual([true, false, false, false]);
});

test("an authenticated connection is never terminated, unless it becomes anonymous again", () => {
  const { connections, come } = setUp(1);
  const known = come("a");
  connections.remove(known);
  expect([come("a"), come("a")].map(isCut)).toEqual([true, false]);
  expect(known.destroyed).toBe(false);
  connections.add(known, "a");
  expect([come("a"), known].map(isCut)).toEqual([false, true]);
});

test("closed connections are not counted, and nothing of them remains", async () => {
  const { connections, come } = setUp(2);
  const some = [come("a"), come("b")];
  for (const connection of some) connection.destroy();
  await Promise.all(some.map((connection) => new Promise((resolve) => connection.once("close", resolve))));
  expect(connections.count).toBe(0);
  connections.add(some[0] ?? come("a"), "a");
  connections.remove(some[0] ?? come("a"));
  expect(some[0]?.listenerCount("close")).toBe(0);
});

test("terminated connections are logged at most once a minute", () => {
  const { come, clock, lines } = setUp(1);
  for (let times = 0; times < 100; times += 1) come("a");
  clock.advance(REPORT_INTERVAL_MS);
  come("a");
  expect(lines.map(({ terminated, lastAddress }) => ({ terminated, lastAddress }))).toEqual([
    { terminated: 1, lastAddress: "a" },
    { terminated: 99, lastAddress: "a" },
  ]);
});
