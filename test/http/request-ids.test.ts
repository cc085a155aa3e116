// Every failure is logged with the id of its request, over all transports.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "vitest";
import { ask, connect, eventually, openServers, TOKEN, type TestServer } from "./support.js";

const openServer = openServers();
// Not a number: each result fails with its own error, and is logged.
const BROKEN = { number: "one", text: "x" };
const TICKS = "subscription { ticks { number text } }";
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

const requestIds = ({ lines }: TestServer) => lines.map(({ requestId }) => requestId);

test("events that fail on a socket carry the id of the subscription, each its own", async () => {
  const server = await openServer();
  const client = connect(server);
  // Different operations: equal ones would share the result and the log line.
  const streams = [TICKS, "subscription { ticks { number } }"].map((query) => client.iterate({ query }));
  const first = streams.map((stream) => stream.next());
  await eventually(() => server.world.feed.live === 2);
  server.world.feed.push({ ...BROKEN });
  await Promise.all(first);
  server.world.feed.push({ ...BROKEN });
  await Promise.all(streams.map((stream) => stream.next()));
  const ids = requestIds(server);
  expect(ids.every((id) => UUID.test(String(id)))).toBe(true);
  expect([ids.length, new Set(ids).size]).toEqual([4, 2]);
  await client.dispose();
});

test("a source that fails on a socket is logged with the id of its subscription", async () => {
  const server = await openServer();
  const client = connect(server);
  const stream = client.iterate({ query: TICKS });
  const first = stream.next();
  await eventually(() => server.world.feed.live === 1);
  server.world.feed.push(new Error("broken"));
  await expect(first).rejects.toBeDefined();
  expect(requestIds(server)).toEqual([expect.stringMatching(UUID)]);
  await client.dispose();
});

test("events that fail on an event stream carry the id of its request, which the response has too", async () => {
  const server = await openServer();
  const response = await fetch(server.streamUrl, {
    method: "POST",
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      "x-request-id": "follows.the-ticks",
    },
    body: JSON.stringify({ query: TICKS }),
  });
  expect(response.headers.get("x-request-id")).toBe("follows.the-ticks");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  await eventually(() => server.world.feed.live === 1);
  for (let count = 1; count <= 3; count += 1) {
    server.world.feed.push({ ...BROKEN });
    while (!(await reader.read()).value?.includes("event: next"));
    expect(requestIds(server)).toEqual(Array.from({ length: count }, () => "follows.the-ticks"));
  }
  await reader.cancel();
});

test("concurrent requests do not mix up their ids, nor do those on one connection", async () => {
  const server = await openServer();
  const send = (id: string) =>
    fetch(server.graphqlUrl, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}`, "x-request-id": id },
      body: JSON.stringify({ query: "{ pending wrongInt }" }),
    });
  for (const ids of [["a", "b", "c"], ["d"]]) {
    const answers = ids.map(send);
    await eventually(() => server.world.pendingCount() === ids.length);
    server.world.release();
    await Promise.all(answers);
  }
  expect(requestIds(server).map(String).sort()).toEqual(["a", "b", "c", "d"]);
});

test("a body that arrives late, in chunks, belongs to its request", async () => {
  const server = await openServer();
  const body = JSON.stringify({ query: "{ wrongInt }" });
  const sending = request(server.graphqlUrl, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", "content-length": body.length, "x-request-id": "comes.late" },
      authorization: `Bearer ${TOKEN}`,
    },
  });
  const answered = once(sending, "response");
  sending.flushHeaders();
  const other = () => ask(server, "{ hello }");
  await other();
  sending.write(body.slice(0, 5));
  await other();
  sending.end(body.slice(5));
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  expect(requestIds(server)).toEqual(["comes.late"]);
});
