// GraphQL over WebSocket: authentication, execution and error mask.
import { describe, expect, test } from "vitest";
import { PING_INTERVAL_MS } from "../../src/http/subscriptions/websocket.js";
import {
  askOverSocket,
  connect,
  eventually,
  ManualClock,
  openServers,
  RawSocket,
  TOKEN,
  viewer,
} from "./support.js";

const open = openServers();

const TICKS = "subscription { ticks { number contextNumber fragile } }";

describe("tokens", () => {
  test.each([{ token: TOKEN }, { authorization: `Bearer ${TOKEN}` }, { Authorization: `bearer ${TOKEN}` }])(
    "%j connects",
    async (params) => {
      const client = connect(await open(), params);
      const answer = await client.iterate({ query: "{ viewer }" }).next();
      expect(answer.value).toEqual({ data: { viewer: "ada" } });
      await client.dispose();
    },
  );

  test.each([undefined, {}, { token: "pt_bad" }, { token: 5 }, { authorization: TOKEN }, { token: "" }])(
    "%j is closed with 4403",
    async (payload) => {
      const raw = await RawSocket.open(await open());
      raw.send({ type: "connection_init", payload });
      expect(await raw.closed).toEqual({ code: 4403, reason: "Forbidden" });
    },
  );

  test("a token that cannot be looked up is closed with 1013, upon which clients try again", async () => {
    const server = await open({ authenticate: () => Promise.reject(new Error("hunter2")) });
    const raw = await RawSocket.open(server);
    raw.send({ type: "connection_init", payload: { token: TOKEN } });
    expect(await raw.closed).toEqual({ code: 1013, reason: "Try again later" });
    expect(JSON.stringify(server.lines)).toContain("hunter2");
  });

  test("a token valid for longer than the longest timer closes the socket at its expiry", async () => {
    const clock = new ManualClock();
    const days40Ms = 40 * 86_400_000;
    const expiresAt = clock.now() + days40Ms;
    const server = await open({ clock, authenticate: async () => ({ ...viewer, expiresAt }) });
    const raw = await RawSocket.connect(server);
    clock.jump(days40Ms - 1);
    raw.subscribe("1", "{ hello }");
    await raw.until(({ type }) => type === "complete");
    clock.jump(1);
    expect(await raw.closed).toEqual({ code: 4403, reason: "Forbidden" });
  });

  test("an expiring token closes the socket at that moment", async () => {
    const clock = new ManualClock();
    const server = await open({
      clock,
      authenticate: async () => ({ ...viewer, expiresAt: clock.now() + 5_000 }),
    });
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", TICKS);
    await eventually(() => server.world.feed.live === 1);
    clock.advance(4_999);
    expect(server.world.feed.live).toBe(1);
    clock.advance(1);
    expect(server.world.feed.live).toBe(0);
    expect(await raw.closed).toEqual({ code: 4403, reason: "Forbidden" });
  });

  test("a revoked token loses its open socket within a minute", async () => {
    const clock = new ManualClock();
    let isRevoked = false;
    const server = await open({ clock, authenticate: async () => (isRevoked ? null : viewer) });
    const raw = await RawSocket.connect(server);
    isRevoked = true;
    for (let round = 1; round <= 4; round += 1) {
      const pinged = new Promise((resolve) => raw.socket.once("ping", resolve));
      clock.advance(PING_INTERVAL_MS);
      await pinged;
      // The server reads in order: this response shows that it has read the pong.
      raw.subscribe(`${round}`, "{ hello }");
      await raw.until(({ id, type }) => id === `${round}` && type === "complete");
    }
    clock.advance(PING_INTERVAL_MS);
    expect(await raw.closed).toEqual({ code: 4403, reason: "Forbidden" });
  });
});

describe("operations", () => {
  test("queries and mutations work, and errors are masked as over HTTP", async () => {
    const server = await open();
    expect(await askOverSocket(server, 'mutation { write(text: "a") }')).toEqual({ data: { write: "a" } });
    expect(server.world.written).toEqual(["a"]);
    const body = await askOverSocket(server, "{ boom refused }");
    const reference = body.errors?.find(({ path }) => String(path) === "boom")?.extensions.reference;
    expect(reference).toMatch(/^[0-9a-f-]{36}$/);
    expect(body).toEqual({
      data: { boom: null, refused: null },
      errors: expect.arrayContaining([
        {
          message: "Internal server error.",
          locations: [{ line: 1, column: 3 }],
          path: ["boom"],
          extensions: { code: "INTERNAL_SERVER_ERROR", reference },
        },
        {
          message: "Not yours.",
          locations: [{ line: 1, column: 8 }],
          path: ["refused"],
          extensions: { code: "FORBIDDEN" },
        },
      ]),
    });
    expect(server.lines.filter((line) => line.reference === reference)).toHaveLength(1);
  });

  test("each event is executed with its own context", async () => {
    const server = await open();
    const client = connect(server);
    const results = client.iterate({ query: TICKS });
    const first = results.next();
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push({ number: 1 });
    server.world.feed.push({ number: 2, isBroken: false });
    // The first context opened the stream.
    expect((await first).value).toEqual({
      data: { ticks: { number: 1, contextNumber: 2, fragile: "fine" } },
    });
    expect((await results.next()).value).toEqual({
      data: { ticks: { number: 2, contextNumber: 3, fragile: "fine" } },
    });
    await client.dispose();
  });

  test("an error inside an event is masked and the stream continues", async () => {
    const server = await open();
    const client = connect(server);
    const results = client.iterate({ query: TICKS });
    const first = results.next();
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push({ number: 1, isBroken: true });
    server.world.feed.push({ number: 2 });
    const { value } = await first;
    expect(value).toMatchObject({
      data: { ticks: { number: 1, fragile: null } },
      errors: [{ message: "Internal server error.", extensions: { code: "INTERNAL_SERVER_ERROR" } }],
    });
    expect(JSON.stringify(value)).not.toContain("hunter2");
    expect((await results.next()).value).toMatchObject({ data: { ticks: { number: 2, fragile: "fine" } } });
    await client.dispose();
  });

  test("a stream that fails, or cannot be opened, is masked and ends", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", TICKS);
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push(new Error("hunter2"));
    const failed = await raw.until(({ type }) => type === "error");
    expect(failed).toMatchObject({
      id: "1",
      payload: [{ message: "Internal server error.", extensions: { code: "INTERNAL_SERVER_ERROR" } }],
    });
    raw.subscribe("2", "subscription { opening { number } }");
    await raw.until(({ id, type }) => id === "2" && type === "complete");
    expect(JSON.stringify(raw.messages)).not.toContain("hunter2");
    expect(server.count()).toEqual({ sockets: 1, operations: 0 });
    raw.socket.close();
  });

  test("a stream that ends completes", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", TICKS);
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push("end");
    expect(await raw.until(({ type }) => type === "complete")).toEqual({ id: "1", type: "complete" });
    raw.socket.close();
  });
});

describe("limits", () => {
  test("a socket runs 64 operations, and one more when one has ended", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    for (let id = 1; id <= 65; id += 1) raw.subscribe(String(id), TICKS);
    const refused = await raw.until(({ type }) => type === "error");
    expect(refused).toEqual({
      id: "65",
      type: "error",
      payload: [
        {
          message: "At most 64 operations may run on one socket at the same time.",
          extensions: { code: "RATE_LIMITED" },
        },
      ],
    });
    raw.send({ type: "complete", id: "1" });
    await eventually(() => server.count().operations === 63);
    raw.subscribe("66", TICKS);
    await eventually(() => server.world.feed.live === 64);
    raw.socket.close();
  });

  test("a user's sockets run 256 operations together, queries too", async () => {
    const server = await open({ limits: { maxOperationsPerUser: 3 } });
    const [one, two] = [await RawSocket.connect(server), await RawSocket.connect(server)];
    one.subscribe("1", TICKS);
    one.subscribe("2", "{ pending }");
    two.subscribe("3", TICKS);
    await eventually(() => server.count().operations === 3);
    two.subscribe("4", "{ hello }");
    expect(await two.until(({ type }) => type === "error")).toMatchObject({
      id: "4",
      payload: [{ extensions: { code: "RATE_LIMITED" } }],
    });
    await eventually(() => server.world.pendingCount() === 1);
    server.world.release();
    await eventually(() => server.count().operations === 2);
    two.subscribe("5", "{ hello }");
    expect(await two.until(({ id, type }) => id === "5" && type === "next")).toEqual({
      id: "5",
      type: "next",
      payload: { data: { hello: "world" } },
    });
    for (const raw of [one, two]) raw.socket.close();
  });

  test("an operation that outlives its socket still counts until it ends", async () => {
    const server = await open();
    const raw = await RawSocket.connect(server);
    raw.subscribe("1", "{ pending }");
    await eventually(() => server.world.pendingCount() === 1);
    raw.socket.terminate();
    await eventually(() => server.count().sockets === 0);
    expect(server.count().operations).toBe(1);
    server.world.release();
    await eventually(() => server.count().operations === 0);
  });

  test("refused operations take no slot", async () => {
    const server = await open({ limits: { maxOperationsPerSocket: 1 } });
    const raw = await RawSocket.connect(server);
    for (let id = 1; id <= 5; id += 1) raw.subscribe(String(id), "{ nothing }");
    await raw.until(({ id }) => id === "5");
    raw.subscribe("6", "{ hello }");
    expect(await raw.until(({ id }) => id === "6")).toMatchObject({ type: "next" });
    raw.socket.close();
  });

  test("more sockets than allowed are refused at the upgrade", async () => {
    const server = await open({ limits: { maxSockets: 1 } });
    const first = await RawSocket.connect(server);
    const second = new RawSocket(server);
    const failure = await new Promise((resolve) => second.socket.once("error", resolve));
    expect(String(failure)).toContain("503");
    first.socket.close();
  });
});
