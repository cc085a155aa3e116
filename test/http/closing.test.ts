// Requests that arrive while a server shuts down, on connections that were open before.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { ask, eventually, ManualClock, openServers, type TestServer } from "./support.js";

const open = openServers();

/** A connection on which half of a request's head was sent. */
async function halfAsked(server: TestServer, firstLine: string): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");
  await new Promise((resolve) => socket.write(`${firstLine} HTTP/1.1\r\nHost: localhost\r\n`, resolve));
  return socket;
}

async function askRest(socket: Socket): Promise<{ status: number; head: string; body: unknown }> {
  let text = "";
  socket.setEncoding("utf8").on("data", (data: string) => (text += data));
  const closed = once(socket, "close");
  socket.write("Content-Type: application/json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  await closed;
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: JSON.parse(body) as unknown };
}

test("a late request is refused so that clients retry, and probes report the shutdown", async () => {
  const server = await open({ clock: new ManualClock() });
  const pending = ask(server, "{ pending }");
  await eventually(() => server.world.pendingCount() === 1);
  const [late, probe] = [await halfAsked(server, "POST /graphql"), await halfAsked(server, "GET /readyz")];
  // Both have reached the server, since a later request has a response.
  expect((await ask(server, "{ hello }")).status).toBe(200);
  const closed = server.close();
  const refused = await askRest(late);
  expect(refused).toMatchObject({
    status: 503,
    body: {
      errors: [
        { extensions: { code: "UNAVAILABLE" }, message: expect.stringContaining("shutting down") as string },
      ],
    },
  });
  expect(refused.head).toContain("retry-after: 1");
  expect(await askRest(probe)).toMatchObject({ status: 503, body: { status: "closing" } });
  server.world.release();
  expect((await pending).status).toBe(200);
  await closed;
});
