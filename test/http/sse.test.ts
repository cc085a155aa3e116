// GraphQL over Server-Sent Events, with raw requests and with graphql-sse's own client.
import { createClient } from "graphql-sse";
import { type ClientRequest, request as requestHttp } from "node:http";
import { describe, expect, test } from "vitest";
import { CLOSE_LIMIT_MS } from "../../src/http/subscriptions/drain-connections.js";
import { STALL_CHECK_MS } from "../../src/http/subscriptions/sse.js";
import { EventStreamReader } from "../support/clients/event-stream-reader.js";
import { scaled } from "../support/scale.js";
import {
  ask,
  eventually,
  ManualClock,
  openServers,
  RawSocket,
  type TestServer,
  TOKEN,
  viewer,
} from "./support.js";

const open = openServers();

const TICKS = "subscription { ticks { number contextNumber fragile } }";
const complete = { event: "complete", data: null };
const next = (data: unknown) => ({ event: "next", data });

describe("operations", () => {
  test("a subscription streams each event, and completes when it ends", async () => {
    const server = await open();
    const stream = await EventStreamReader.open(server, TICKS);
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push({ number: 1 });
    server.world.feed.push({ number: 2 });
    server.world.feed.push("end");
    const tick = (number: number) =>
      next({ data: { ticks: { number, contextNumber: number + 1, fragile: "fine" } } });
    expect(await stream.rest()).toEqual([tick(1), tick(2), complete]);
    const { status, headers } = stream.response;
    expect({ status, type: headers.get("content-type"), cache: headers.get("cache-control") }).toEqual({
      status: 200,
      type: "text/event-stream; charset=utf-8",
      cache: "no-cache",
    });
  });

  test("graphql-sse's own client opens a subscription and closes it", async () => {
    const server = await open();
    const client = createClient({ url: server.streamUrl, headers: { authorization: `Bearer ${TOKEN}` } });
    const results = client.iterate({ query: "subscription { ticks { number } }" });
    const first = results.next();
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push({ number: 7 });
    expect((await first).value).toEqual({ data: { ticks: { number: 7 } } });
    await results.return?.();
    await eventually(() => server.world.feed.live === 0);
    client.dispose();
  });

  test("queries and mutations work too", async () => {
    const server = await open();
    const query = await EventStreamReader.open(server, "query ($t: String!) { echo(text: $t) viewer }", {
      variables: { t: "hello" },
    });
    expect(await query.rest()).toEqual([next({ data: { echo: "hello", viewer: "ada" } }), complete]);
    const mutation = await EventStreamReader.open(server, 'mutation { write(text: "a") }');
    expect(await mutation.rest()).toEqual([next({ data: { write: "a" } }), complete]);
    expect(server.world.written).toEqual(["a"]);
  });

  test("GET streams a subscription, and changes nothing", async () => {
    const server = await open();
    const headers = { accept: "text/event-stream", authorization: `Bearer ${TOKEN}` };
    const asked = await fetch(`${server.streamUrl}?query=${encodeURIComponent("{ hello }")}`, { headers });
    expect(await asked.text()).toContain('data: {"data":{"hello":"world"}}');
    const mutation = encodeURIComponent('mutation { write(text: "a") }');
    const refused = await fetch(`${server.streamUrl}?query=${mutation}`, { headers });
    expect([refused.status, server.world.written, server.count().operations]).toEqual([405, [], 0]);
  });

  test("errors are masked as over HTTP", async () => {
    const server = await open();
    const stream = await EventStreamReader.open(server, "{ boom refused }");
    const [answer] = await stream.rest();
    expect(answer).toMatchObject({
      event: "next",
      data: {
        data: { boom: null, refused: null },
        errors: [
          { path: ["refused"], message: "Not yours.", extensions: { code: "FORBIDDEN" } },
          {
            path: ["boom"],
            message: "Internal server error.",
            extensions: { code: "INTERNAL_SERVER_ERROR" },
          },
        ],
      },
    });
    expect(JSON.stringify(answer)).not.toContain("hunter2");
  });

  test("a stream that fails, or cannot be opened, sends a masked error and completes", async () => {
    const server = await open();
    const stream = await EventStreamReader.open(server, TICKS);
    await eventually(() => server.world.feed.live === 1);
    server.world.feed.push(new Error("hunter2"));
    const failed = await stream.rest();
    const masked = { message: "Internal server error.", extensions: { code: "INTERNAL_SERVER_ERROR" } };
    expect(failed).toMatchObject([{ event: "next", data: { errors: [masked] } }, complete]);
    const unopened = await EventStreamReader.open(server, "subscription { opening { number } }");
    expect(await unopened.rest()).toMatchObject([{ event: "next", data: { errors: [masked] } }, complete]);
    expect(JSON.stringify(failed)).not.toContain("hunter2");
  });
});

describe("refusals", () => {
  test.each([null, "pt_bad"])("the token %j is refused with 401", async (token) => {
    const server = await open();
    const stream = await EventStreamReader.open(server, "{ hello }", { token });
    expect([stream.response.status, server.world.contexts]).toEqual([401, []]);
  });

  test.each([
    ["{ hello", "GRAPHQL_PARSE_FAILED"],
    ["{ nothing }", "GRAPHQL_VALIDATION_FAILED"],
    [`{ ${"tree { ".repeat(13)} leaf ${"}".repeat(13)} }`, "QUERY_TOO_COSTLY"],
    ["query A { hello } query B { hello }", "OPERATION_RESOLUTION_FAILURE"],
  ])("an operation that HTTP would refuse is refused in the stream: %#", async (query, code) => {
    const server = await open();
    const messages = await (await EventStreamReader.open(server, query)).rest();
    expect(messages).toMatchObject([
      { event: "next", data: { errors: [{ extensions: { code } }] } },
      complete,
    ]);
    expect(server.world.contexts).toEqual([]);
  });

  type Sent = { method: string; body?: string; headers?: Record<string, string> };
  test.each<[string, Sent, number]>([
    ["no query", { method: "POST", body: "{}" }, 400],
    ["a list", { method: "POST", body: "[]" }, 400],
    ["a text", { method: "POST", body: '"x"' }, 400],
    ["half an object", { method: "POST", body: "{" }, 400],
    ["a number for a query", { method: "POST", body: '{"query":5}' }, 400],
    ["a list of variables", { method: "POST", body: '{"query":"{ hello }","variables":[]}' }, 400],
    ["another type", { method: "POST", body: "x", headers: { "content-type": "text/plain" } }, 415],
    ["more than a body may have", { method: "POST", body: "x".repeat(13_048_577) }, 413],
    [
      "an Accept header for JSON",
      { method: "POST", body: '{"query":"{ hello }"}', headers: { accept: "application/json" } },
      406,
    ],
    ["a reservation", { method: "PUT" }, 404],
    ["a cancellation", { method: "DELETE" }, 404],
  ])("%s is answered with its status and a code", async (_name, { headers, ...request }, status) => {
    const server = await open();
    const response = await fetch(server.streamUrl, {
      ...request,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        accept: "text/event-stream",
        ...("body" in request ? { "content-type": "application/json" } : {}),
        ...headers,
      },
    });
    const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
    expect([response.status, typeof errors[0]?.extensions.code]).toEqual([status, "string"]);
  });

  test("HEAD opens no stream", async () => {
    const server = await open();
    const url = `${server.streamUrl}?query=${encodeURIComponent(TICKS)}`;
    const headers = { accept: "text/event-stream", authorization: `Bearer ${TOKEN}` };
    const { status } = await fetch(url, { method: "HEAD", headers });
    expect([status, server.count().operations]).toEqual([404, 0]);
  });

  test("a user's sockets and streams share one limit on operations", async () => {
    const server = await open({ limits: { maxOperationsPerUser: 2 } });
    const socket = await RawSocket.connect(server);
    socket.subscribe("1", TICKS);
    const stream = await EventStreamReader.open(server, TICKS);
    await eventually(() => server.world.feed.live === 2);
    const refused = await (await EventStreamReader.open(server, TICKS)).rest();
    const message = "At most 2 operations of one user may run at the same time.";
    expect(refused).toEqual([
      next({ errors: [{ message, extensions: { code: "RATE_LIMITED" } }] }),
      complete,
    ]);
    stream.leave();
    await eventually(() => server.count().operations === 1);
    expect(await (await EventStreamReader.open(server, "{ hello }")).rest()).toHaveLength(2);
    socket.socket.close();
  });

  test("more streams than allowed are refused with 503", async () => {
    const server = await open({ limits: { maxSockets: 1 } });
    const first = await EventStreamReader.open(server, TICKS);
    const second = await EventStreamReader.open(server, TICKS);
    expect(second.response.status).toBe(503);
    first.leave();
  });
});

describe("permissions", () => {
  test("an expiring token ends its streams without completing them, so that clients reconnect", async () => {
    const clock = new ManualClock();
    const server = await open({
      clock,
      authenticate: async () => ({ ...viewer, expiresAt: clock.now() + 5_000 }),
    });
    const stream = await EventStreamReader.open(server, TICKS);
    await eventually(() => server.world.feed.live === 1);
    clock.advance(4_999);
    expect(server.world.feed.live).toBe(1);
    clock.advance(1);
    expect([await stream.rest(), server.world.feed.live]).toEqual([[], 0]);
  });

  test("a revoked token loses its streams within a minute", async () => {
    const clock = new ManualClock();
    let isRevoked = false;
    const server = await open({ clock, authenticate: async () => (isRevoked ? null : viewer) });
    const stream = await EventStreamReader.open(server, TICKS);
    await eventually(() => server.world.feed.live === 1);
    isRevoked = true;
    clock.advance(60_000);
    expect(await stream.rest()).toEqual([]);
  });

  test("a lost permission ends its stream with FORBIDDEN", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const stream = await EventStreamReader.open(
      server,
      'subscription { guardedTicks(channel: "a") { number } }',
    );
    await eventually(() => server.world.feed.live === 1);
    server.world.mayContinue = () => false;
    clock.advance(60_000);
    const message = "You no longer have permission to read this subscription.";
    expect(await stream.rest()).toEqual([
      next({ errors: [{ message, extensions: { code: "FORBIDDEN" } }] }),
      complete,
    ]);
  });
});

describe("cleanup", () => {
  test("hundreds of streams that are opened and closed leave no iterator, slot or timer behind", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const before = clock.pending();
    for (let round = 0; round < scaled(300); round += 1) {
      const streams = await Promise.all(
        Array.from({ length: 10 }, () => EventStreamReader.open(server, TICKS)),
      );
      await eventually(() => server.world.feed.live === 10);
      for (const stream of streams) stream.leave();
      await eventually(() => server.world.feed.live === 0);
    }
    await eventually(() => server.count().operations === 0);
    expect(clock.pending()).toBe(before);
  });

  test("a client that disconnects while its stream is being opened leaves nothing behind", async () => {
    const server = await open();
    const abort = new AbortController();
    const opening = fetch(server.streamUrl, {
      method: "POST",
      signal: abort.signal,
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        authorization: `Bearer ${TOKEN}`,
      },
      body: JSON.stringify({ query: "subscription { pendingTicks { number } }" }),
    });
    await eventually(() => server.world.pendingCount() === 1);
    abort.abort();
    await expect(opening).rejects.toThrow();
    server.world.release();
    await eventually(() => server.count().operations === 0);
    expect(server.world.feed.live).toBe(0);
  });

  test("a client that does not read keeps events at their source, and is terminated eventually", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const client = openWithoutReading(server);
    await eventually(() => server.world.feed.live === 1);
    const taken = await takenOf(server, 1_000);
    // What the kernel buffers for a connection, and one event in each stage before it.
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(500);
    clock.advance(STALL_CHECK_MS);
    clock.advance(STALL_CHECK_MS);
    await eventually(() => server.world.feed.live === 0);
    client.destroy();
  });

  test("a client that does not read is terminated at the server's shutdown limit", async () => {
    const clock = new ManualClock();
    const server = await open({ clock });
    const client = openWithoutReading(server);
    await eventually(() => server.world.feed.live === 1);
    await takenOf(server, 1_000);
    const closed = server.close();
    await eventually(() => server.world.feed.live === 0);
    clock.advance(CLOSE_LIMIT_MS);
    await closed;
    client.destroy();
  });

  test("a slow reader gets no `complete` when the server shuts down", async () => {
    const server = await open({ clock: new ManualClock() });
    const stream = await EventStreamReader.open(server, "subscription { ticks { text } }");
    await eventually(() => server.world.feed.live === 1);
    await takenOf(server, 1_000);
    const closed = server.close();
    await eventually(() => server.world.feed.live === 0);
    const events = new Set((await stream.rest()).map(({ event }) => event));
    expect([...events]).toEqual(["next"]);
    await closed;
  });

  test("a query that runs during shutdown is completed", async () => {
    const server = await open({ clock: new ManualClock() });
    const opening = EventStreamReader.open(server, "{ pending }");
    await eventually(() => server.world.pendingCount() === 1);
    const closed = server.close();
    server.world.release();
    expect(await (await opening).rest()).toEqual([next({ data: { pending: "done" } }), complete]);
    await closed;
  });

  test("at shutdown streams end without completing, in slices over time", async () => {
    const clock = new ManualClock();
    const server = await open({ clock, limits: { maxOperationsPerUser: 200 } });
    const streams = await Promise.all(
      Array.from({ length: 120 }, () => EventStreamReader.open(server, TICKS)),
    );
    await eventually(() => server.world.feed.live === 120);
    let gone = 0;
    const rests = streams.map((stream) => stream.rest().finally(() => (gone += 1)));
    const closed = server.close();
    for (const expected of [50, 100, 120]) {
      await eventually(() => gone === expected);
      clock.advance(100);
    }
    await closed;
    expect((await Promise.all(rests)).flat()).toEqual([]);
  });

  test("other requests are served while streams are open", async () => {
    const server = await open();
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => EventStreamReader.open(server, TICKS)),
    );
    expect((await ask(server, "{ hello }")).body).toEqual({ data: { hello: "world" } });
    for (const stream of streams) stream.leave();
  });
});

/** A client that subscribes to large events and reads none. */
function openWithoutReading({ streamUrl }: TestServer): ClientRequest {
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    authorization: `Bearer ${TOKEN}`,
  };
  const request = requestHttp(streamUrl, { method: "POST", headers });
  request.on("error", () => undefined);
  request.on("response", (response) => response.on("error", () => undefined).pause());
  request.end(JSON.stringify({ query: "subscription { ticks { text } }" }));
  return request;
}

/** How many of these events of 100 kB are executed before the source is paused. */
async function takenOf(server: TestServer, events: number): Promise<number> {
  let taken = 0;
  const text = () => {
    taken += 1;
    return "x".repeat(100_000);
  };
  for (let count = 0; count < events; count += 1) server.world.feed.push({ text });
  for (let before = -1; before < taken;) {
    before = taken;
    for (let turn = 0; turn < 1_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return taken;
}
