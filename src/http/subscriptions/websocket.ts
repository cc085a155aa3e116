/**
 * WebSocket transport: accepts upgrades on /graphql, sends heartbeats, terminates sockets that no longer respond or no
 * longer read, and drains all of them in slices on shutdown.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { handleProtocols } from "graphql-ws";
import { WebSocketServer, type WebSocket } from "ws";
import type { ByteReservation } from "../../lib/streams/byte-budget.js";
import type { Clock } from "../../lib/clock.js";
import { runWithContext } from "../../lib/run-context.js";
import { startHeartbeat } from "../../lib/streams/heartbeat.js";
import type { Log } from "../../lib/log.js";
import type { ReadBrowserSession } from "../auth/browser-session.js";
import type { HttpLimits } from "../graphql/limits.js";
import { MAX_WAITING_BYTES, SMALL_RESULT_BYTES, whenDrained } from "./output-queue.js";
import { drainConnections, type DrainableConnection } from "./drain-connections.js";
import { closeSession, newSession, ownerOf } from "./sessions.js";
import type { AnonymousConnections } from "./anonymous-connections.js";
import { createSocketOperations, type Connection, type OperationsOptions } from "./socket-operations.js";

/** Below the 60 s after which common proxies close an idle connection, with tolerance for a lost ping. */
export const PING_INTERVAL_MS = 12_000;
/** A client that has not sent `connection_init` by then is closed. */
export const CONNECTION_INIT_WAIT_MS = 3_000;
const INIT_TIMEOUT_CLOSE_CODE = 4408;
const GOING_AWAY_CLOSE_CODE = 1001;
const INTERNAL_ERROR_CLOSE_CODE = 4500;

export type WebSocketTransportOptions = OperationsOptions & {
  readBrowserSession: ReadBrowserSession;
  anonymous: AnonymousConnections;
};

export type WebSocketTransport = {
  /** Takes over a connection that asks for an upgrade. Responds with 503 when closing or full. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open sockets. */
  count(): number;
  /** Drains all sockets; resolves when they are closed, at the latest shortly after CLOSE_LIMIT_MS. */
  close(): Promise<void>;
};

/** Facts from the upgrade request. */
type Origin = { address: string; browserSession: string | null };

/** Creates the transport. It does not listen itself: the HTTP server passes upgrades to it. */
export function createWebSocketTransport(options: WebSocketTransportOptions): WebSocketTransport {
  const { limits, log, clock } = options;
  const socketLimits = createSocketLimits(options);
  const operations = createSocketOperations({ ...options, claim: socketLimits.claim });
  const server = createUpgradeServer(limits);
  const connections = new Set<Connection>();
  let isClosing = false;

  const open = (socket: WebSocket, transport: Duplex, origin: Origin) => {
    const connection = createConnection(socket, transport, { ...origin, byteBudget: options.byteBudget });
    connections.add(connection);
    connection.cancels.push(startHeartbeat(socket, PING_INTERVAL_MS, clock));
    limitInitTime(connection, clock);
    limitInitBytes(connection, limits);
    const closed = operations.opened(adapt(connection, options), connection);
    socket.on("error", (failure) => log.debug({ err: failure }, "socket failed"));
    socket.once("close", (code, reason) => {
      connections.delete(connection);
      for (const reservation of connection.reservations.values()) reservation.release();
      connection.reservations.clear();
      void cleanUp(connection, closed(code, String(reason)), log);
    });
  };

  return {
    accept(request, socket, head) {
      if (isClosing || socketLimits.isFull()) return refuseUpgrade(socket, "503 Service Unavailable");
      const address = options.rateGate.addressOf(request);
      // Also when an earlier request on the connection was authenticated: the socket's user is not known yet.
      options.anonymous.add(socket, address);
      const browserSession = options.readBrowserSession(request.headers);
      server.handleUpgrade(request, socket, head, (upgraded) =>
        open(upgraded, socket, { address, browserSession }),
      );
    },
    count: () => connections.size,
    async close() {
      isClosing = true;
      await drainConnections([...connections].map(toDrainable), clock);
      server.close();
    },
  };
}

function createUpgradeServer({ maxBodyBytes }: HttpLimits): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols,
    maxPayload: maxBodyBytes,
    // Compressing each small event costs more time than it saves.
    perMessageDeflate: false,
  });
}

function createConnection(
  socket: WebSocket,
  transport: Duplex,
  { address, browserSession, byteBudget }: Origin & Pick<WebSocketTransportOptions, "byteBudget">,
): Connection {
  const session = newSession(null, address, {
    byteBudget,
    isBehind: () => socket.readyState === socket.OPEN && socket.bufferedAmount > MAX_WAITING_BYTES,
    onDrained: (callback) => whenDrained(transport, callback),
  });
  return Object.assign(session, {
    ...{ socket, transport, browserSession, hasSentInit: false },
    reservations: new Map<string, ByteReservation>(),
  });
}

/** Rejects an upgrade with an HTTP status. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function limitInitTime(connection: Connection, clock: Clock): void {
  const { socket, transport, cancels } = connection;
  const expire = () => {
    if (!connection.hasSentInit) socket.close(INIT_TIMEOUT_CLOSE_CODE, "Connection initialisation timeout");
    // Does not wait for an unauthenticated client to complete this close handshake, or an earlier one.
    if (socket.readyState !== socket.OPEN) endNow(transport);
  };
  cancels.push(clock.after(CONNECTION_INIT_WAIT_MS, expire));
}

/** Ends the connection once everything written has been sent, whatever the other end does. */
function endNow(transport: Duplex): void {
  if (transport.destroyed) return;
  transport.end(() => transport.destroy());
}

/** Bounds what a client may send before it is authenticated. It sends nothing but `connection_init` until then. */
function limitInitBytes(connection: Connection, { maxInitBytes }: HttpLimits): void {
  const { socket, transport } = connection;
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (connection.viewer !== null) transport.off("data", count);
    else if (bytes > maxInitBytes) socket.terminate();
  };
  transport.on("data", count);
}

/** Terminates a socket whose client sends without reading; returns true then. */
function terminateIfUnread(
  connection: Connection,
  { limits, byteBudget, log }: WebSocketTransportOptions,
): boolean {
  const { socket } = connection;
  const isBehind = socket.bufferedAmount > MAX_WAITING_BYTES && byteBudget.isFull(ownerOf(connection));
  if (!isBehind && socket.bufferedAmount <= limits.maxUnsentBytes) return false;
  log.warn({ unsentBytes: socket.bufferedAmount }, "socket terminated: its client does not read");
  socket.terminate();
  return true;
}

type SocketLimits = {
  /** Counts a socket that has authenticated, until it closes. Returns false when it is one too many. */
  claim(connection: Connection, userId: string): boolean;
  isFull(): boolean;
};

/** Bounds on authenticated sockets, per user and in total. Anonymous sockets have their own bound. */
function createSocketLimits({ limits, anonymous }: WebSocketTransportOptions): SocketLimits {
  const users = countByUser(limits.maxSocketsPerUser);
  let authenticated = 0;
  const isFull = () => authenticated >= limits.maxSockets;
  return {
    isFull,
    claim: ({ cancels, transport }, userId) => {
      if (isFull()) return false;
      const release = users.take(userId);
      if (release === null) return false;
      authenticated += 1;
      cancels.push(release, () => (authenticated -= 1));
      anonymous.remove(transport);
      return true;
    },
  };
}

/** Counts something per user, up to a maximum; users with none take no memory. */
function countByUser(max: number): { take(userId: string): (() => void) | null } {
  const counts = new Map<string, number>();
  const release = (userId: string) => {
    const left = (counts.get(userId) ?? 1) - 1;
    if (left > 0) counts.set(userId, left);
    else counts.delete(userId);
  };
  return {
    take(userId) {
      const count = counts.get(userId) ?? 0;
      if (count >= max) return null;
      counts.set(userId, count + 1);
      return () => release(userId);
    },
  };
}

type ProtocolSocket = Parameters<ReturnType<typeof createSocketOperations>["opened"]>[0];

/** Adapts the socket to graphql-ws. `send` resolves after the write, which applies the client's backpressure. */
function adapt(connection: Connection, options: WebSocketTransportOptions): ProtocolSocket {
  const { socket } = connection;
  const { byteBudget, log, createRequestId, admission } = options;
  return {
    protocol: socket.protocol,
    send: (text) =>
      new Promise((resolve) => {
        if (socket.readyState !== socket.OPEN) return resolve();
        // Small messages are counted once they pile up; large results are counted already.
        const isCounted = socket.bufferedAmount > MAX_WAITING_BYTES && text.length <= SMALL_RESULT_BYTES;
        const reservation = isCounted ? byteBudget.open(ownerOf(connection)) : null;
        reservation?.force(text.length);
        // A failed write is followed by the close event, which ends everything on this socket.
        socket.send(text, () => {
          reservation?.release();
          resolve();
        });
      }),
    close: (code, reason) => socket.close(code, reason),
    onMessage: (handle) => {
      socket.on("message", (message) => {
        if (terminateIfUnread(connection, options)) return;
        // ws delivers Buffers unless configured otherwise.
        const text = (message as Buffer).toString("utf8");
        if (connection.viewer) admission.chargeBytes(connection.viewer.userId, (message as Buffer).length);
        const serve = () =>
          handle(text).catch((failure: unknown) => {
            log.warn({ err: failure }, "handling a socket message failed");
            socket.close(INTERNAL_ERROR_CLOSE_CODE, "Internal server error");
          });
        // Each message is a request of its own.
        void runWithContext({ requestId: createRequestId() }, serve);
      });
    },
  };
}

async function cleanUp(connection: Connection, protocolEnd: Promise<void>, log: Log): Promise<void> {
  const protocolEnded = protocolEnd.catch((failure: unknown) => {
    log.error({ err: failure }, "ending a socket's subscriptions failed");
  });
  await Promise.all([protocolEnded, closeSession(connection, log)]);
}

function toDrainable({ socket }: Connection): DrainableConnection {
  return {
    requestClose: () => socket.close(GOING_AWAY_CLOSE_CODE, "Going away"),
    terminate: () => socket.terminate(),
    closed: closing(socket),
  };
}

function closing(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => socket.once("close", () => resolve()));
}
