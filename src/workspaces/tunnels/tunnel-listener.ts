/**
 * A port on this machine's loopback that leads into a tunnel, so that everything that can talk to an agent by its
 * address (HTTP and WebSockets alike) can talk to one that called. Whoever finds the port still needs the token.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { pipeline, type Duplex } from "node:stream";
import type { Log } from "../../lib/log.js";

const LOOPBACK = "127.0.0.1";

export type Entrance = {
  /** Origin, without a path. */
  url: string;
  /** Cuts what is under way. */
  close(): void;
};

/** `open` makes the stream for one connection; it may throw, then the connection is cut. */
export async function openEntrance(open: () => Duplex, log: Log): Promise<Entrance> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    try {
      joinStreams(socket, open());
    } catch (error) {
      log.warn({ err: error }, "A connection to a workspace's agent could not be opened");
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

/** What comes out of either goes into the other; an end or a failure of one is passed on. */
export function joinStreams(one: Duplex, other: Duplex): void {
  // Whoever fails is destroyed with its neighbour; both ends hear of it, and there is nobody else to tell.
  pipeline(one, other, () => undefined);
  pipeline(other, one, () => undefined);
}
