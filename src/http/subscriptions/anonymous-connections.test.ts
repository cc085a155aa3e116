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
  const connect = (address: string) => {
    const connection = new PassThrough();
    connections.add(connection, address);
    return connection;
  };
  return { connections, connect, clock, lines };
}

const isCut = (connection: PassThrough) => connection.destroyed;

test("one connection too many from an address terminates the oldest from there, and none from elsewhere", () => {
  const { connections, connect } = setUp(2);
  const others = [connect("b"), connect("b")];
  const some = [connect("a"), connect("a"), connect("a"), connect("a")];
  expect(some.map(isCut)).toEqual([true, true, false, false]);
  expect(others.map(isCut)).toEqual([false, false]);
  expect(connections.count).toBe(4);
});

test("one connection too many in total terminates the oldest of all", () => {
  const { connect } = setUp(2, 3);
  const some = ["a", "b", "c", "d"].map(connect);
  expect(some.map(isCut)).toEqual([true, false, false, false]);
});

test("an authenticated connection is never terminated, unless it becomes anonymous again", () => {
  const { connections, connect } = setUp(1);
  const known = connect("a");
  connections.remove(known);
  expect([connect("a"), connect("a")].map(isCut)).toEqual([true, false]);
  expect(known.destroyed).toBe(false);
  connections.add(known, "a");
  expect([connect("a"), known].map(isCut)).toEqual([false, true]);
});

test("closed connections are not counted, and nothing of them remains", async () => {
  const { connections, connect } = setUp(2);
  const some = [connect("a"), connect("b")];
  for (const connection of some) connection.destroy();
  await Promise.all(some.map((connection) => new Promise((resolve) => connection.once("close", resolve))));
  expect(connections.count).toBe(0);
  connections.add(some[0] ?? connect("a"), "a");
  connections.remove(some[0] ?? connect("a"));
  expect(some[0]?.listenerCount("close")).toBe(0);
});

test("terminated connections are logged at most once a minute", () => {
  const { connect, clock, lines } = setUp(1);
  for (let times = 0; times < 100; times += 1) connect("a");
  clock.advance(REPORT_INTERVAL_MS);
  connect("a");
  expect(lines.map(({ terminated, lastAddress }) => ({ terminated, lastAddress }))).toEqual([
    { terminated: 1, lastAddress: "a" },
    { terminated: 99, lastAddress: "a" },
  ]);
});
