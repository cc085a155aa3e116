// Kept-alive connections that the server has closed, with real sockets.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { systemClock, type Clock } from "../../src/lib/clock.js";
import { OutboundFetch } from "../../src/lib/outbound/outbound-fetch.js";
import { resendWhenStale } from "../../src/lib/outbound/stale-connection.js";
import { ShiftingClock } from "../support/shifting-clock.js";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\nok";

/** What the server does with the n-th request of its k-th connection, both counted from 0. */
type Behaviour = (socket: Socket, connection: number, request: number) => void;

const answers: Behaviour = (socket) => socket.write(ANSWER);
const goesStale =
  (onStale: (socket: Socket) => void): Behaviour =>
  (socket, connection, request) =>
    connection === 0 && request > 0 ? onStale(socket) : socket.write(ANSWER);

async function serve(behave: Behaviour) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const connection = sockets.size;
    sockets.add(socket);
    let count = 0;
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      text += bytes.toString();
      // Head and body may come apart; no test sends an empty body.
      const body = text.split("\r\n\r\n")[1] ?? "";
      if (body === "") return;
      text = "";
      requests.push(body);
      behave(socket, connection, count++);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests };
}

type Send = (url: string, body: string, clock?: Clock) => Promise<string>;

const guarded: Send = async (url, body, clock = systemClock) => {
  const out = outbounds.get(clock) ?? new OutboundFetch(clock);
  outbounds.set(clock, out);
  open.push(out);
  const policy = { isPrivateAllowed: true, timeoutMs: 20_000, maxBodyBytes: 1_000 };
  return wholeText(await out.for(policy)(url, { method: "POST", body }));
};
const outbounds = new Map<Clock, OutboundFetch>();
afterEach(() => outbounds.clear());

const platform: Send = async (url, body, clock = systemClock) =>
  wholeText(await resendWhenStale(clock, () => fetch(url, { method: "POST", body })));

/** The connection is free for the next request a little after the answer's end was read. */
async function wholeText(response: Response): Promise<string> {
  const text = await response.text();
  await new Promise((resolve) => setImmediate(resolve));
  return text;
}

const SENDERS: [string, Send][] = [
  ["the outbound fetch", guarded],
  ["the platform's fetch", platform],
];

test.each(SENDERS)("%s retries a request once that was sent on a closed connection", async (_, send) => {
  for (const close of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    const { url, requests } = await serve(goesStale(close));
    expect([await send(url, "one"), await send(url, "two")]).toEqual(["ok", "ok"]);
    expect(requests).toEqual(["one", "two", "two"]);
  }
});

test.each<[string, Behaviour, string[]]>([
  [
    "a new connection",
    (socket, connection) => (connection === 0 ? socket.end() : socket.write(ANSWER)),
    ["one"],
  ],
  ["a connection that had begun to answer", goesStale((socket) => socket.end("HTTP/1.1 2")), ["one", "two"]],
  [
    "the second time",
    (socket, connection, request) => (connection + request > 0 ? socket.end() : socket.write(ANSWER)),
    ["one", "two", "two"],
  ],
])("a request is not sent again after %s broke", async (_, behave, expected) => {
  for (const [, send] of SENDERS) {
    const { url, requests } = await serve(behave);
    const both = (async () => {
      await send(url, "one");
      await send(url, "two");
    })();
    await expect(both).rejects.toThrow();
    expect(requests).toEqual(expected);
  }
});

test("a request is not sent again to a server that worked for a while before it died", async () => {
  const clock = new ShiftingClock();
  const { url, requests } = await serve(
    goesStale((socket) => {
      clock.shift(10_000);
      socket.end();
    }),
  );
  await guarded(url, "one", clock);
  await expect(guarded(url, "two", clock)).rejects.toThrow();
  expect(requests).toEqual(["one", "two"]);
});

test("a request that succeeds is sent once", async () => {
  const { url, requests } = await serve(answers);
  for (const body of ["one", "two", "three"]) await guarded(url, body);
  expect(requests).toEqual(["one", "two", "three"]);
});
