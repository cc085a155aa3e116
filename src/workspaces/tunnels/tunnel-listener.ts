/**
 * A TCP listener on loopback that forwards into a tunnel, so that clients of an agent's address (HTTP and WebSocket) work
 * for an agent that dialled in too. Its port alone gives no access: requests still need the agent's token.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { pipeline, type Duplex } from "node:stream";
import type { Log } from "../../lib/log.js";

const LOOPBACK = "127.0.0.1";

export type TunnelListener = {
  /** Origin, without a path. */
  url: string;
  /** Also destroys open connections. */
  close(): void;
};

/** `open` creates the stream of one connection; when it throws, the connection is destroyed. */
export async function openTunnelListener(open: () => Duplex, log: Log): Promise<TunnelListener> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    try {
      joinStreams(socket, open());
    } catch (error) {
      log.warn({ err: error }, "connection to a workspace agent could not be opened");
      socket.destroy();
    }
  });
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has a port.");
  return {
    url: `http://${LOOPBACK}:${address.port}`,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Pipes both streams into each other; an end or a failure of one is passed on. */
export function joinStreams(one: Duplex, other: Duplex): void {
  // `pipeline` destroys both streams when one fails, which tells both ends.
  pipeline(one, other, () => undefined);
  pipeline(other, one, () => undefined);
}
