// The end of the doors: who is sent away, who is waited for, who is cut.
import { connect as connectTcp } from "node:net";
import { expect, test } from "vitest";
import { CLOSE_LIMIT_MS } from "../../src/http/send-away.js";
import { ask, eventually, ManualClock, openServer, RawSocket } from "./support.js";

const TICKS = "subscription { ticks { number } }";

test("sockets are sent away with 1001 and their streams end", async () => {
  const server = await openServer();
  const sockets = [await RawSocket.connect(server), await RawSocket.connect(server)];
  for (const raw of sockets) raw.subscribe("1", TICKS);
  await eventually(() => server.world.feed.live === 2);
  await server.close();
  const goingAway = { code: 1001, reason: "Going away" };
  expect(await Promise.all(sockets.map((raw) => raw.closed))).toEqual([goingAway, goingAway]);
  expect(server.world.feed.live).toBe(0);
  expect(server.count()).toEqual({ sockets: 0, operations: 0 });
});

test("a running request is answered before the end, and nothing new is taken", async () => {
  const server = await openServer({ clock: new ManualClock() });
  const running = ask(server, "{ held }");
  await eventually(() => server.world.heldCount() === 1);
  const closed = server.close();
  await expect(ask(server, "{ hello }")).rejects.toThrow();
  const late = new RawSocket(server);
  expect((await late.closed).code).toBe(1006);
  server.world.release();
  expect((await running).body).toEqual({ data: { held: "done" } });
  await closed;
});

test("many sockets go in slices, over time", async () => {
  const clock = new ManualClock();
  const server = await openServer({ clock });
  const sockets = await Promise.all(Array.from({ length: 120 }, () => RawSocket.connect(server)));
  let gone = 0;
  for (const raw of sockets) void raw.closed.then(() => (gone += 1));
  const closed = server.close();
  for (const expected of [50, 100, 120]) {
    await eventually(() => gone === expected);
    clock.advance(100);
  }
  await closed;
  expect(clock.pending()).toBe(0);
});

test("a client that does not close is cut when its time is up", async () => {
  const clock = new ManualClock();
  const server = await openServer({ clock });
  const handshake =
    "GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
    "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n";
  const stubborn = connectTcp(server.port, "127.0.0.1", () => stubborn.write(handshake));
  stubborn.on("data", () => undefined);
  const cut = new Promise((resolve) => stubborn.on("error", () => undefined).on("close", resolve));
  await eventually(() => server.count().sockets === 1);
  const closed = server.close();
  clock.advance(CLOSE_LIMIT_MS - 1);
  expect(server.count().sockets).toBe(1);
  clock.advance(1);
  await closed;
  await cut;
  expect(server.count().sockets).toBe(0);
});

test("a request that never ends is cut when its time is up", async () => {
  const clock = new ManualClock();
  const server = await openServer({ clock });
  const running = ask(server, "{ held }");
  const failed = running.then(
    () => "answered",
    () => "cut",
  );
  await eventually(() => server.world.heldCount() === 1);
  const closed = server.close();
  clock.advance(10_000);
  await closed;
  expect(await failed).toBe("cut");
});

test("a connection without a request does not hold up the end", async () => {
  const clock = new ManualClock();
  const server = await openServer({ clock });
  const idle = connectTcp(server.port, "127.0.0.1");
  const cut = new Promise((resolve) => idle.on("error", () => undefined).on("close", resolve));
  await new Promise((resolve) => idle.once("connect", resolve));
  await ask(server, "{ hello }");
  await server.close();
  await cut;
});

test("closing twice is closing once", async () => {
  const server = await openServer();
  await Promise.all([server.close(), server.close()]);
  await server.close();
});
