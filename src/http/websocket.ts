/**
 * The socket door: takes upgrades on /graphql, keeps sockets alive, cuts those that no longer answer or no longer
 * read, and closes all of them in slices at the end, so that their clients do not come back in one moment.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { handleProtocols } from "graphql-ws";
import { WebSocketServer, type WebSocket } from "ws";
import type { Clock } from "../lib/clock.js";
import { sleep } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { HttpLimits } from "./limits.js";
import { createOperationSlots } from "./operation-slots.js";
import {
  createSocketOperations,
  endStreams,
  type Connection,
  type SocketOperationsOptions,
} from "./socket-operations.js";

/** Below the 60 s after which common proxies cut an idle connection, with room for a lost ping. */
export const PING_INTERVAL_MS = 12_000;
/** Sockets that have not closed by then are cut. */
export const CLOSE_LIMIT_MS = 5_000;
const CLOSE_SLICES = 20;
/** With the slices, clients are sent away over 2 s; few clients at once are no storm. */
const CLOSE_SLICE_INTERVAL_MS = 100;
const MIN_CLOSE_SLICE_SOCKETS = 50;
const GOING_AWAY_CLOSE_CODE = 1001;
const INTERNAL_ERROR_CLOSE_CODE = 4500;

export type SocketDoorOptions = Omit<SocketOperationsOptions, "slots"> & { limits: HttpLimits };

export type SocketDoor = {
  /** Takes over an upgraded connection. Answers 503 when the door is closing or full. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open sockets and running operations, for metrics and tests. */
  count(): { sockets: number; operations: number };
  /** Sends every client away; resolves when all sockets are gone, at the latest shortly after CLOSE_LIMIT_MS. */
  close(): Promise<void>;
};

/** Opens the door. It listens on nothing by itself: the HTTP server hands it its upgrades. */
export function createSocketDoor(options: SocketDoorOptions): SocketDoor {
  const { limits, log, clock } = options;
  const slots = createOperationSlots(limits);
  const operations = createSocketOperations({ ...options, slots });
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols,
    maxPayload: limits.maxBodyBytes,
    // Compressing each small event costs more time than it saves.
    perMessageDeflate: false,
  });
  const connections = new Set<Connection>();
  let isClosing = false;

  const open = (socket: WebSocket) => {
    const connection: Connection = {
      socket,
      count: { operations: 0 },
      streams: new Set(),
      cancels: [],
      viewer: null,
      isClosed: false,
    };
    connections.add(connection);
    watchLiveness(connection, clock);
    const closed = operations.opened(adapt(connection, limits, log), connection);
    socket.on("error", (failure) => log.debug({ err: failure }, "A socket failed"));
    socket.once("close", (code, reason) => {
      connections.delete(connection);
      void leave(connection, closed(code, String(reason)), log);
    });
  };

  return {
    accept(request, socket, head) {
      if (isClosing || connections.size >= limits.maxSockets)
        return refuseUpgrade(socket, "503 Service Unavailable");
      server.handleUpgrade(request, socket, head, open);
    },
    count: () => ({ sockets: connections.size, operations: slots.count() }),
    async close() {
      isClosing = true;
      await sendAway(connections, clock);
      server.close();
    },
  };
}

/** Answers an upgrade that is not taken. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function watchLiveness({ socket, cancels }: Connection, clock: Clock): void {
  let hasAnswered = true;
  socket.on("pong", () => {
    hasAnswered = true;
  });
  const ping = () => {
    if (!hasAnswered) return socket.terminate();
    hasAnswered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  };
  cancels.push(clock.every(PING_INTERVAL_MS, ping));
}

type ProtocolSocket = Parameters<ReturnType<typeof createSocketOperations>["opened"]>[0];

/** The socket as graphql-ws wants it. `send` waits for the write, which holds a stream back while the client does. */
function adapt({ socket }: Connection, limits: HttpLimits, log: Log): ProtocolSocket {
  return {
    protocol: socket.protocol,
    send: (text) =>
      new Promise((resolve) => {
        if (socket.readyState !== socket.OPEN) return resolve();
        // A failed write is followed by the close event, which ends everything on this socket.
        socket.send(text, () => resolve());
      }),
    close: (code, reason) => socket.close(code, reason),
    onMessage: (take) => {
      socket.on("message", (message) => {
        if (socket.bufferedAmount > limits.maxUnsentBytes) {
          log.warn(
            { unsentBytes: socket.bufferedAmount },
            "A socket's client does not read; the socket is cut",
          );
          return socket.terminate();
        }
        // ws hands over Buffers unless another type is asked for.
        take((message as Buffer).toString("utf8")).catch((failure: unknown) => {
          log.warn({ err: failure }, "A socket's message could not be served");
          socket.close(INTERNAL_ERROR_CLOSE_CODE, "Internal server error");
        });
      });
    },
  };
}

async function leave(connection: Connection, protocolEnd: Promise<void>, log: Log): Promise<void> {
  connection.isClosed = true;
  for (const cancel of connection.cancels.splice(0)) cancel();
  const protocolLeft = protocolEnd.catch((failure: unknown) => {
    log.error({ err: failure }, "A socket's subscriptions could not be ended");
  });
  await Promise.all([protocolLeft, endStreams(connection, log)]);
}

async function sendAway(connections: Set<Connection>, clock: Clock): Promise<void> {
  const limit = new AbortController();
  const cancelLimit = clock.after(CLOSE_LIMIT_MS, () => limit.abort());
  const all = [...connections];
  const allClosed = Promise.all(all.map(({ socket }) => closing(socket)));
  const sliceSockets = Math.max(MIN_CLOSE_SLICE_SOCKETS, Math.ceil(all.length / CLOSE_SLICES));
  for (let start = 0; start < all.length && !limit.signal.aborted; start += sliceSockets) {
    if (start > 0) await sleep(clock, CLOSE_SLICE_INTERVAL_MS, limit.signal);
    for (const { socket } of all.slice(start, start + sliceSockets)) {
      socket.close(GOING_AWAY_CLOSE_CODE, "Going away");
    }
  }
  await Promise.race([allClosed, aborted(limit.signal)]);
  cancelLimit();
  for (const { socket } of connections) socket.terminate();
  await allClosed;
}

function closing(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
