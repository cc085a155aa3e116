// Open WebSockets: changing permissions, floods of operations, and limits on connections.
import { createConnection } from "node:net";
import { describe, expect, test } from "vitest";
import { NO_RATE_LIMITS } from "../../src/domain/common/rate-limits.js";
import { readAddresses } from "../../src/http/common/client-address.js";
import { createRateGate } from "../../src/http/common/rate-gate.js";
import { CONNECTION_INIT_WAIT_MS, PING_INTERVAL_MS } from "../../src/http/subscriptions/websocket.js";
import type { Viewer } from "../../src/domain/users/viewer.js";
import {
  ask,
  eventually,
  ManualClock,
  openServers,
  RawSocket,
  TOKEN,
  viewer,
  type TestServer,
} from "./support.js";

const open = openServers();

const TICKS = "subscription { ticks { number } }";
const guarded = (channel: string) => `subscription { guardedTicks(channel: "${channel}") { number } }`;

/** Lets a minute pass, with all pings answered. */
async function passMinute(clock: ManualClock, raw: RawSocket, round = 0): Promise<void> {
  for (let ping = 0; ping * PING_INTERVAL_MS < 60_000; ping += 1) {
    const pinged = new Promise((resolve) => raw.socket.once("ping", resolve));
    clock.advance(PING_INTERVAL_MS);
    await pinged;
    await settled(raw, `${round} ${ping}`);
  }
}

/** The server reads in order: this response shows that it has read everything sent before. */
async function settled(raw: RawSocket, mark: string): Promise<void> {
  raw.subscribe(mark, "{ hello }");
  // In a flood it may be refused, as one too many at that moment.
  await raw.until(({ id, type }) => id === mark && (type === "complete" || type === "error"));
}

function messagesOf(raw: RawSocket, id: string): unknown[] {
  return raw.messages.filter((message) => message["id"] === id);
}

describe("permissions", () => {
  test("a lost permission ends its subscription with FORBIDDEN and no other", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const raw = await RawSocket.connect(server);
    raw.subscribe("a", guarded("a"));
    raw.subscribe("b", guarded("b"));
    raw.subscribe("c", TICKS);
    await eventually(() => server.world.feed.live === 3);
    server.world.mayContinue = (channel) => channel !== "a";
    await passMinute(clock, raw);
    await raw.until(({ id, type }) => id === "a" && type === "error");
    expect(server.world.feed.live).toBe(2);
    server.world.feed.push({ number: 1 });
    await raw.until(({ id, type }) => id === "b" && type === "next");
    await settled(raw, "last");
    const message = "You no longer have permission to read this subscription.";
    expect([messagesOf(raw, "a"), messagesOf(raw, "b"), messagesOf(raw, "c")]).toEqual([
      [{ id: "a", type: "error", payload: [{ message, extensions: { code: "FORBIDDEN" } }] }],
      [{ id: "b", type: "next", payload: { data: { guardedTicks: { number: 1 } } } }],
      [{ id: "c", type: "next", payload: { data: { ticks: { number: 1 } } } }],
    ]);
    raw.socket.close();
  });

  test("a viewer whose role has changed is checked with the new one", async () => {
    const clock = new ManualClock();
    let role: Viewer["role"] = "admin";
    const server = await open({ clock, authenticate: async () => ({ ...viewer, role }) });
    server.world.mayContinue = (_channel, asker) => asker.role === "admin";
    const raw = await RawSocket.connect(server);
    raw.subscribe("a", guarded("a"));
    await eventually(() => server.world.feed.live === 1);
    await passMinute(clock, raw);
    expect(messagesOf(raw, "a")).toEqual([]);
    role = "member";
    await passMinute(clock, raw, 1);
    await raw.until(({ id, type }) => id === "a" && type === "error");
    raw.socket.close();
  });

  test("a failed permission lookup ends nothing", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const raw = await RawSocket.connect(server);
    raw.subscribe("a", guarded("a"));
    await eventually(() => server.world.feed.live === 1);
    server.world.mayContinue = () => {
      throw new Error("The database is away.");
    };
    await passMinute(clock, raw);
    await eventually(() => server.lines.length > 0);
    server.world.mayContinue = () => true;
    server.world.feed.push({ number: 1 });
    await raw.until(({ id, type }) => id === "a" && type === "next");
    expect(server.lines.map(({ msg }) => msg)).toEqual([
      "revalidating the authorization of an open socket or stream failed",
    ]);
    raw.socket.close();
  });
});

describe("connection limits", () => {
  test("a client that never sends connection_init is closed with 4408 after 3 s", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const silent = await RawSocket.open(server);
    const greeted = await RawSocket.connect(server);
    await eventually(() => server.count().sockets === 2);
    clock.advance(CONNECTION_INIT_WAIT_MS - 1);
    await settled(greeted, "1");
    expect(server.count().sockets).toBe(2);
    clock.advance(1);
    expect(await silent.closed).toEqual({ code: 4408, reason: "Connection initialisation timeout" });
    await settled(greeted, "2");
    greeted.socket.close();
  });

  test("a user's sockets are counted, and one more is closed with 1013", async () => {
    const server = await open({ limits: { maxSocketsPerUser: 2 } });
    const sockets = [await RawSocket.connect(server), await RawSocket.connect(server)];
    const third = await RawSocket.open(server);
    third.send({ type: "connection_init", payload: { token: TOKEN } });
    expect(await third.closed).toEqual({ code: 1013, reason: "Too many sockets" });
    sockets[0]?.socket.close();
    await eventually(() => server.count().sockets === 1);
    const fourth = await RawSocket.connect(server);
    for (const raw of [...sockets, fourth]) raw.socket.close();
  });

  test("one user's sockets do not count for another", async () => {
    const server = await open({
      limits: { maxSocketsPerUser: 1 },
      authenticate: async (token) => ({ ...viewer, userId: token }),
    });
    const one = await RawSocket.connect(server);
    const other = await RawSocket.open(server);
    other.send({ type: "connection_init", payload: { token: "pt_other" } });
    await other.until(({ type }) => type === "connection_ack");
    for (const raw of [one, other]) raw.socket.close();
  });
});

describe("unauthenticated connections", () => {
  /** A raw upgrade by a client that sends and answers nothing afterwards. */
  const connectSilently = (server: TestServer, from?: string) => {
    const socket = createConnection(server.port, "127.0.0.1");
    const whenClosed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined).resume();
    const head = [
      "GET /graphql HTTP/1.1",
      "Host: x",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${"A".repeat(22)}==`,
      "Sec-WebSocket-Protocol: graphql-transport-ws",
      ...(from === undefined ? [] : [`X-Forwarded-For: ${from}`]),
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    return { socket, whenClosed };
  };

  test("are terminated at the deadline, whether they respond or not", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const strangers = Array.from({ length: 5 }, () => connectSilently(server));
    await eventually(() => server.count().sockets === 5);
    clock.advance(CONNECTION_INIT_WAIT_MS);
    await Promise.all(strangers.map(({ whenClosed }) => whenClosed));
    await eventually(() => server.count().sockets === 0);
  });

  test("from one address displace each other, but no authenticated ones", async () => {
    const server = await open({ limits: { maxAnonymousPerAddress: 3 } });
    const member = await RawSocket.connect(server);
    const first = [connectSilently(server), connectSilently(server), connectSilently(server)];
    await eventually(() => server.count().sockets === 4);
    const slow = createConnection(server.port, "127.0.0.1");
    slow.write("POST /graphql HTTP/1.1\r\nHost: x\r\n");
    await first[0]?.whenClosed;
    const newcomer = await RawSocket.connect(server);
    await first[1]?.whenClosed;
    expect((await ask(server, "{ hello }")).body).toEqual({ data: { hello: "world" } });
    for (const raw of [member, newcomer]) {
      await settled(raw, "still there");
      raw.socket.close();
    }
    slow.destroy();
    for (const { socket } of first) socket.destroy();
    await eventually(() => server.count().sockets === 0);
    expect(server.lines.map(({ level, terminated }) => ({ level, terminated }))).toEqual([
      { level: 40, terminated: 1 },
    ]);
  });

  test("do not count against authenticated sockets", async () => {
    const server = await open({ limits: { maxSockets: 1 } });
    const stranger = connectSilently(server);
    await eventually(() => server.count().sockets === 1);
    const member = await RawSocket.connect(server);
    const second = new RawSocket(server);
    const failure = await new Promise((resolve) => second.socket.once("error", resolve));
    expect(String(failure)).toContain("503");
    stranger.socket.destroy();
    member.socket.close();
  });

  test("behind a proxy are counted by client address, and the proxy's are not", async () => {
    const rateGate = createRateGate(NO_RATE_LIMITS, readAddresses({ networks: ["127.0.0.0/8"] }));
    const server = await open({ rateGate, limits: { maxAnonymousPerAddress: 2 } });
    const lines = Array.from({ length: 5 }, () => createConnection(server.port, "127.0.0.1"));
    const here = ["198.51.100.1", "198.51.100.1", "198.51.100.2"].map((from) =>
      connectSilently(server, from),
    );
    await eventually(() => server.count().sockets === 3);
    const third = connectSilently(server, "198.51.100.1");
    await here[0]?.whenClosed;
    await eventually(() => server.count().sockets === 3);
    expect([here[1], here[2], third].map((come) => come?.socket.destroyed)).toEqual([false, false, false]);
    expect(lines.map((line) => line.destroyed)).toEqual([false, false, false, false, false]);
    for (const socket of [...lines, ...here.map((come) => come.socket), third.socket]) socket.destroy();
    await eventually(() => server.count().sockets === 0);
  });
});

describe("floods", () => {
  test("1,000 subscriptions that are opened and completed leave no iterator, slot or timer behind", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const raw = await RawSocket.connect(server);
    const before = clock.pending();
    for (let round = 0; round < 1_000; round += 1) {
      raw.subscribe(`${round}`, TICKS);
      raw.send({ type: "complete", id: `${round}` });
    }
    await settled(raw, "last");
    await eventually(() => server.count().operations === 0);
    expect({ live: server.world.feed.live, timers: clock.pending() }).toEqual({ live: 0, timers: before });
    raw.socket.close();
    await eventually(() => server.count().sockets === 0);
  });

  test("a flood of streams opened and cancelled in another order ends with none", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    for (let round = 0; round < 100; round += 1) {
      for (let id = 0; id < 10; id += 1) raw.subscribe(`${round} ${id}`, TICKS);
      for (let id = 9; id >= 0; id -= 1) raw.send({ type: "complete", id: `${round} ${id}` });
      raw.send({ type: "complete", id: "nothing" });
    }
    await settled(raw, "last");
    await eventually(() => server.count().operations === 0);
    expect(server.world.feed.live).toBe(0);
    raw.socket.close();
  });

  test("each of thousands of small concurrent operations is executed or refused individually", async () => {
    const server = await open();
    const [raw, other] = [await RawSocket.connect(server), await RawSocket.connect(server)];
    for (let id = 0; id < 5_000; id += 1) raw.subscribe(`${id}`, "{ hello }");
    await settled(other, "other");
    const isLast = ({ type }: Record<string, unknown>) => type === "complete" || type === "error";
    // Operations that waited complete after those that were refused immediately.
    await eventually(() => raw.messages.filter(isLast).length === 5_000);
    const answered = raw.messages.filter(({ type }) => type === "complete").length;
    const refused = raw.messages.filter(({ type }) => type === "error");
    expect(answered + refused.length).toBe(5_000);
    expect(new Set(refused.map(codeOf))).toEqual(new Set(refused.length > 0 ? ["RATE_LIMITED"] : []));
    for (const socket of [raw, other]) socket.socket.close();
  });

  test("the same id twice closes the socket with 4409, and its stream ends", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", TICKS);
    await eventually(() => server.world.feed.live === 1);
    raw.subscribe("1", TICKS);
    expect(await raw.closed).toEqual({ code: 4409, reason: "Subscriber for 1 already exists" });
    await eventually(() => server.count().operations === 0);
    expect(server.world.feed.live).toBe(0);
  });

  test("a client's pings are answered, on both levels of the protocol", async () => {
    const raw = await RawSocket.connect(await open());
    const pong = new Promise((resolve) => raw.socket.once("pong", (payload) => resolve(String(payload))));
    raw.socket.ping("are you there?");
    raw.send({ type: "ping", payload: { number: 1 } });
    expect([await pong, await raw.until(({ type }) => type === "pong")]).toEqual([
      "are you there?",
      { type: "pong", payload: { number: 1 } },
    ]);
    raw.socket.close();
  });

  test("a client that pings without reading the pongs is terminated", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    raw.socket.pause();
    await floodWithPings(raw, server);
    expect(await raw.closed).toEqual({ code: 1006, reason: "" });
  });
});

function codeOf({ payload }: Record<string, unknown>): unknown {
  return (payload as { extensions: { code: string } }[])[0]?.extensions.code;
}

/** Until the server terminates it. */
async function floodWithPings(raw: RawSocket, server: TestServer): Promise<void> {
  raw.socket.on("error", () => undefined);
  const payload = "x".repeat(125);
  while (server.count().sockets > 0) {
    for (let count = 0; count < 1_000 && raw.socket.readyState === raw.socket.OPEN; count += 1) {
      raw.socket.ping(payload);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
