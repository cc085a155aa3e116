// Byte streams over one real WebSocket, as used by agents that dial out: no loss, no blocking, no leaks.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import {
  multiplexStreams,
  MAX_STREAMS,
  PING_INTERVAL_MS,
  type ByteStreams,
} from "../../src/lib/streams/byte-streams.js";
import { openTunnelListener } from "../../src/workspaces/tunnels/tunnel-listener.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "./manual-clock.js";

let clock: ManualClock;
let server: WebSocketServer;
/** The end that opens streams, and the one that accepts them. */
let opener: WebSocket;
let accepter: WebSocket;
let streams: ByteStreams;
let accepted: ByteStreams;
let accept: (stream: Duplex) => void;
beforeEach(async () => {
  clock = new ManualClock();
  accept = (stream) => stream.pipe(stream);
  server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(server, "listening");
  accepter = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const opened = once(accepter, "open");
  [opener] = (await once(server, "connection")) as [WebSocket];
  streams = multiplexStreams(opener, { clock });
  await opened;
  // Time only passes at the other end.
  accepted = multiplexStreams(accepter, { accept: (stream) => accept(stream), clock: new ManualClock() });
});
afterEach(() => {
  opener.terminate();
  accepter.terminate();
  server.close();
});

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("what goes in comes back byte for byte, on many streams at one time", async () => {
  const sizes = [0, 1, 65_536, 65_537, 262_144, 262_145, 3_000_000, 10_000_000];
  const results = await Promise.all(
    sizes.map(async (size) => {
      const bytes = randomBytes(size);
      const stream = streams.open();
      stream.end(bytes);
      return digest(await buffer(stream)) === digest(bytes);
    }),
  );
  expect(results).toEqual(sizes.map(() => true));
  await untilNone();
});

test("[A17] an unread stream blocks none of the others, and buffers no more than its window", async () => {
  const unread: Duplex[] = [];
  accept = (stream) => {
    unread.push(stream);
    accept = (other) => other.pipe(other);
  };
  const stuck = streams.open();
  let taken = 0;
  const chunk = Buffer.alloc(16_384);
  const write = () => {
    taken += 1;
    if (taken < 1_000) stuck.write(chunk, write);
  };
  write();
  for (let round = 0; round < 20; round += 1) {
    const other = streams.open();
    other.end(`round ${round}`);
    expect(await text(other)).toBe(`round ${round}`);
  }
  expect(taken * chunk.length).toBeLessThan(1024 * 1024);
  // Once its reader continues, everything arrives.
  unread[0]?.resume();
  await new Promise<void>(
    (resolve) => unread[0]?.once("end", resolve).once("close", resolve) && stuck.end(resolve),
  );
  await untilNone();
});

test("an end goes one way: the other one can still answer", async () => {
  accept = (stream) => {
    let asked = "";
    stream.on("data", (bytes: Buffer) => (asked += bytes.toString()));
    stream.once("end", () => stream.end(`you said ${asked}`));
  };
  const stream = streams.open();
  stream.end("hello");
  expect(await text(stream)).toBe("you said hello");
  await untilNone();
});

test("a stream that is reset at one end is reset at the other, and the connection stays", async () => {
  const broken = new Promise<string>((resolve) => {
    accept = (stream) => stream.once("error", (error) => resolve(error.message)).resume();
  });
  const stream = streams.open();
  await new Promise<void>((resolve) => stream.write("begun", () => resolve()));
  stream.destroy();
  expect(await broken).toBe("The other end reset the stream.");
  accept = (other) => other.pipe(other);
  const next = streams.open();
  next.end("still here");
  expect(await text(next)).toBe("still here");
  await untilNone();
});

test("[A18] a connection that is cut breaks all its streams, and none can be opened any more", async () => {
  const all = [streams.open(), streams.open()];
  const failures = all.map((stream) => text(stream).catch((error: Error) => error.message));
  accepter.terminate();
  expect(await Promise.all(failures)).toEqual(["The connection was lost.", "The connection was lost."]);
  expect(() => streams.open()).toThrow("The connection was lost.");
  await untilNone();
});

test("there is a bound to the streams of one connection, at both ends", () => {
  for (let count = 0; count < MAX_STREAMS; count += 1) streams.open();
  expect(() => streams.open()).toThrow("there can be no more");
});

test("the end that only opens streams accepts none", async () => {
  const stream = accepted.open();
  const broken = once(stream, "error");
  stream.resume();
  expect((await broken).map(String)).toEqual(["Error: The other end reset the stream."]);
});

test("who sends more than there was credit for is cut off", async () => {
  const header = (kind: number, id: number) => Buffer.from([kind, 0, 0, 0, id]);
  accept = () => undefined;
  opener.send(header(1, 9));
  for (let sent = 0; sent < 6; sent += 1) opener.send(Buffer.concat([header(2, 9), Buffer.alloc(60_000)]));
  const [code] = (await once(opener, "close")) as [number];
  expect(code).toBe(1002);
});

test("[A20] an end that falls silent is given up after it did not answer for two intervals", async () => {
  let pongs = 0;
  opener.on("pong", () => (pongs += 1));
  for (let interval = 1; interval <= 5; interval += 1) {
    clock.advance(PING_INTERVAL_MS);
    await until(() => pongs === interval);
  }
  expect(opener.readyState).toBe(opener.OPEN);
  // From here on the network drops everything.
  accepter.pause();
  const closed = once(opener, "close");
  for (let interval = 1; interval <= 3; interval += 1) clock.advance(PING_INTERVAL_MS);
  await closed;
});

test("HTTP and WebSockets go through an entrance as they do to any server", async () => {
  const sockets = new WebSocketServer({ noServer: true });
  const web = createServer((asked, answer) => void asked.pipe(answer));
  web.on("upgrade", (asked, socket, head) => {
    sockets.handleUpgrade(asked, socket, head, (upgraded) => {
      upgraded.on("message", (message: Buffer) => upgraded.send(`heard ${message.toString()}`));
    });
  });
  accept = (stream) => web.emit("connection", stream);
  const entrance = await openTunnelListener(() => streams.open(), createLog("silent"));
  const body = randomBytes(2_000_000);
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const response = await fetch(entrance.url, { method: "POST", body });
      return digest(new Uint8Array(await response.arrayBuffer()));
    }),
  );
  expect(new Set(answers)).toEqual(new Set([digest(body)]));
  const socket = new WebSocket(entrance.url);
  await once(socket, "open");
  socket.send("you");
  expect(String((await once(socket, "message"))[0])).toBe("heard you");
  const closed = once(socket, "close");
  const hanging = request(entrance.url, { method: "POST" });
  hanging.write("half");
  const failed = once(hanging, "error");
  await once(hanging, "response");
  accepter.terminate();
  await closed;
  await Promise.race([failed, once(hanging, "close")]);
  entrance.close();
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

async function untilNone(): Promise<void> {
  await until(() => streams.count() === 0 && accepted.count() === 0);
}
