// Failing WebSockets: clients that vanish, stall or send garbage leave nothing behind and affect no others.
import { connect as connectTcp } from "node:net";
import { describe, expect, test } from "vitest";
import { PING_INTERVAL_MS } from "../../src/http/subscriptions/websocket.js";
import { askOverSocket, eventually, ManualClock, openServers, RawSocket } from "./support.js";

const open = openServers();

const TICKS = "subscription { ticks { number contextNumber fragile } }";

describe("cleanup", () => {
  test("200 sockets that are terminated while they wait leave no iterator behind", async () => {
    const server = await open();
    for (let cycle = 0; cycle < 200; cycle += 1) {
      const raw = await RawSocket.connect(server);
      raw.subscribe("1", TICKS);
      await eventually(() => server.world.feed.live === 1);
      raw.socket.terminate();
      await eventually(() => server.world.feed.live === 0);
    }
    await eventually(() => server.count().sockets === 0);
    expect(server.count()).toEqual({ sockets: 0, operations: 0 });
  });

  test("a client that vanishes while its stream is being opened leaves no iterator behind", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", "subscription { pendingTicks { number } }");
    await eventually(() => server.world.pendingCount() === 1);
    raw.socket.terminate();
    await eventually(() => server.count().sockets === 0);
    server.world.release();
    await eventually(() => server.count().operations === 0);
    expect(server.world.feed.live).toBe(0);
  });

  test("an id that is reused before its first stream has ended leaves no iterator behind", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    for (let round = 0; round < 50; round += 1) {
      raw.subscribe("1", TICKS);
      raw.send({ type: "complete", id: "1" });
    }
    raw.subscribe("1", TICKS);
    raw.subscribe("last", "{ hello }");
    await raw.until(({ id }) => id === "last");
    raw.socket.terminate();
    await eventually(() => server.count().sockets === 0);
    await eventually(() => server.count().operations === 0);
    expect(server.world.feed.live).toBe(0);
  });

  test("a client that answers no ping is terminated at the next one", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const alive = await RawSocket.connect(server);
    const dead = await RawSocket.connect(server, { autoPong: false });
    const pong = new Promise((resolve) => alive.socket.once("ping", resolve));
    clock.advance(PING_INTERVAL_MS);
    await pong;
    alive.subscribe("1", "{ hello }");
    await alive.until(({ id }) => id === "1");
    clock.advance(PING_INTERVAL_MS);
    expect(await dead.closed).toEqual({ code: 1006, reason: "" });
    expect(alive.socket.readyState).toBe(alive.socket.OPEN);
    alive.socket.close();
  });

  test("a client that does not read its responses is terminated", async () => {
    const server = await open({ limits: { maxUnsentBytes: 100_000 } });
    const raw = await RawSocket.connect(server);
    raw.socket.pause();
    const payload = { filler: "x".repeat(500_000) };
    for (let count = 0; count < 60; count += 1) raw.send({ type: "ping", payload });
    await eventually(() => server.count().sockets === 0);
    expect(server.lines.map(({ msg }) => msg)).toContain("socket terminated: its client does not read");
    raw.socket.terminate();
  });

  test("an event for a client that was just terminated is not logged as a failure", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", TICKS);
    await eventually(() => server.world.feed.live === 1);
    raw.socket.terminate();
    server.world.feed.push({ number: 1 });
    await eventually(() => server.count().operations === 0);
    expect(server.lines).toEqual([]);
  });
});

describe("invalid input", () => {
  test.each([
    ["not json", 4400],
    ["{}", 4400],
    ["[]", 4400],
    ['{"type":"nonsense"}', 4400],
    ['{"type":"subscribe","id":"","payload":{}}', 4400],
    ['{"type":"subscribe","id":"1","payload":{"query":5}}', 4400],
    ['{"type":"subscribe","id":"1","payload":{"query":"{ hello }","variables":[]}}', 4400],
    ['{"type":"next","id":"1","payload":{}}', 4500],
    ['{"type":"connection_init"}', 4429],
    [Buffer.from([0, 1, 2, 255]).toString("latin1"), 4400],
  ])("the frame %j closes this socket with %d and no other", async (frame, code) => {
    const server = await open();
    const other = await RawSocket.connect(server);
    const raw = await RawSocket.connect(server);
    raw.send(frame);
    expect((await raw.closed).code).toBe(code);
    other.subscribe("1", "{ hello }");
    await other.until(({ type }) => type === "complete");
    other.socket.close();
  });

  test("a frame that is larger than a body may be is closed with 1009", async () => {
    const raw = await RawSocket.connect(await open({ limits: { maxBodyBytes: 1_048_576 } }));
    raw.send("x".repeat(2_097_152));
    expect((await raw.closed).code).toBe(1009);
  });

  test("more than 64 KiB before the token end the socket, in one frame or in many", async () => {
    const server = await open();
    for (const frames of [1, 100]) {
      const raw = await RawSocket.open(server);
      for (let sent = 0; sent < frames; sent += 1) raw.socket.send("x".repeat(70_000 / frames));
      expect([1006, 4400]).toContain((await raw.closed).code);
    }
    expect(server.world.contexts).toEqual([]);
  });

  test("an operation before the token is closed with 4401", async () => {
    const server = await open();
    const raw = await RawSocket.open(server);
    raw.subscribe("1", "{ hello }");
    expect((await raw.closed).code).toBe(4401);
    expect(server.world.contexts).toEqual([]);
  });

  test("an unknown protocol is closed with 4406", async () => {
    const raw = new RawSocket(await open(), "graphql-ws");
    // The client itself gives up when the server chooses none of its protocols.
    expect([4406, 1006]).toContain((await raw.closed).code);
  });

  test("upgrades of other paths, incomplete upgrades and random bytes do no harm", async () => {
    const server = await open();
    const elsewhere = new RawSocket({ ...server, socketUrl: `${server.socketUrl}/other` });
    const failure = await new Promise((resolve) => elsewhere.socket.once("error", resolve));
    expect(String(failure)).toContain("404");
    for (const bytes of [
      "GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      "\u0000\u0001\u0002\r\n\r\n",
      "GET //[ HTTP/1.1\r\nHost: [\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ]) {
      const socket = connectTcp(server.port, "127.0.0.1", () => socket.write(bytes));
      await new Promise((resolve) =>
        socket
          .on("close", resolve)
          .on("error", resolve)
          .on("data", () => socket.end()),
      );
    }
    expect(await askOverSocket(server, "{ hello }")).toEqual({ data: { hello: "world" } });
  });
});
