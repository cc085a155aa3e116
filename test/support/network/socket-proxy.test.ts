import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { randomNumbers } from "../random.js";
import { Slowness, SocketProxy } from "./socket-proxy.js";

let echo: Server;
beforeEach(async () => {
  echo = createServer((socket) => socket.on("error", () => socket.destroy()).pipe(socket));
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
});
afterEach(async () => {
  echo.close();
  await once(echo, "close");
});
const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function join(proxy: SocketProxy): Promise<Socket> {
  const socket = connect(proxy.port, "127.0.0.1").on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** With an error or without. */
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()));

async function answerOf(socket: Socket, length: number): Promise<string> {
  let text = "";
  for await (const chunk of socket.setEncoding("latin1").iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.length >= length) break;
  }
  return text;
}

test("bytes pass both ways unchanged, slowly too", async () => {
  const draw = randomNumbers(3);
  const slow = () => new Slowness(draw, { percent: 50, longestMs: 5 });
  const proxy = await SocketProxy.start({ port: portOf(echo), toServer: slow, toClient: slow });
  const socket = await join(proxy);
  const text = "0123456789".repeat(100_000);
  socket.write(text);
  expect(await answerOf(socket, text.length)).toBe(text);
  socket.destroy();
  await proxy.close();
});

test("a cut ends the connection at both ends, now and then in the middle of what it carries", async () => {
  const draw = randomNumbers(5);
  const proxy = await SocketProxy.start({ port: portOf(echo) });
  const arrived: number[] = [];
  for (let time = 0; time < 20; time += 1) {
    const joined = once(echo, "connection") as Promise<[Socket]>;
    const socket = await join(proxy);
    const [server] = await joined;
    socket.write("hello");
    await answerOf(socket, 5);
    const gone = Promise.all([closed(socket), closed(server)]);
    expect(proxy.cut(draw)).toBe(true);
    socket.write("0123456789");
    await gone;
    arrived.push(server.bytesRead - 5);
  }
  expect({
    nothing: arrived.includes(0),
    aPart: arrived.some((length) => length > 0),
    all: arrived.includes(10),
  }).toEqual({ nothing: true, aPart: true, all: false });
  await proxy.close();
});

test("nothing is cut where nobody is connected, and a server that is away ends the connection", async () => {
  const proxy = await SocketProxy.start({ port: portOf(echo) });
  expect(proxy.cut(randomNumbers(1))).toBe(false);
  proxy.moveTo(1);
  const socket = connect(proxy.port, "127.0.0.1").on("error", () => undefined);
  await closed(socket);
  await proxy.close();
});
