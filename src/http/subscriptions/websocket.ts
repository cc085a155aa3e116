/**
 * The socket door: takes upgrades on /graphql, keeps sockets alive, cuts those that no longer answer or no longer
 * read, and closes all of them in slices at the end, so that their clients do not come back in one moment.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { handleProtocols } from "graphql-ws";
import { WebSocketServer, type WebSocket } from "ws";
import type { ByteHold } from "../../lib/streams/byte-accounts.js";
import type { Clock } from "../../lib/clock.js";
import { runWithContext } from "../../lib/run-context.js";
import { startHeartbeat } from "../../lib/streams/heartbeat.js";
import type { Log } from "../../lib/log.js";
import type { ShownByBrowser } from "../auth/browser-session.js";
import type { HttpLimits } from "../graphql/limits.js";
import { MAX_WAITING_BYTES, SMALL_ANSWER_BYTES, whenDrained } from "./outlet.js";
import { sendAway } from "./drain-connections.js";
import { closeSession, newSession, ownerOf } from "./sessions.js";
import type { Strangers } from "./anonymous-connections.js";
import { createSocketOperations, type Connection, type OperationsOptions } from "./socket-operations.js";

/** Below the 60 s after which common proxies cut an idle connection, with room for a lost ping. */
export const PING_INTERVAL_MS = 12_000;
/** A client that has not said who it is by then is closed. */
export const CONNECTION_INIT_WAIT_MS = 3_000;
const INIT_TIMEOUT_CLOSE_CODE = 4408;
const GOING_AWAY_CLOSE_CODE = 1001;
const INTERNAL_ERROR_CLOSE_CODE = 4500;

export type SocketDoorOptions = OperationsOptions & { shownByBrowser: ShownByBrowser; strangers: Strangers };

export type SocketDoor = {
  /** Takes over an upgraded connection. Answers 503 when the door is closing or full. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open sockets. */
  count(): number;
  /** Sends every client away; resolves when all sockets are gone, at the latest shortly after CLOSE_LIMIT_MS. */
  close(): Promise<void>;
};

/** What the request says from which a socket has come. */
type Greeting = { address: string; shownByBrowser: string | null };

/** Opens the door. It listens on nothing by itself: the HTTP server hands it its upgrades. */
export function createSocketDoor(options: SocketDoorOptions): SocketDoor {
  const { limits, log, clock } = options;
  const users = countByUser(limits.maxSocketsPerUser);
  // Strangers are bounded by themselves, and take no place from those who are known.
  let known = 0;
  const claim = ({ cancels, transport }: Connection, userId: string) => {
    if (known >= limits.maxSockets) return false;
    const release = users.take(userId);
    if (release === null) return false;
    known += 1;
    cancels.push(release, () => (known -= 1));
    options.strangers.forget(transport);
    return true;
  };
  const operations = createSocketOperations({ ...options, claim });
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

  const open = (socket: WebSocket, transport: Duplex, { address, shownByBrowser }: Greeting) => {
    const session = newSession(null, address, {
      accounts: options.accounts,
      isBehind: () => socket.readyState === socket.OPEN && socket.bufferedAmount > MAX_WAITING_BYTES,
      onDrained: (callback) => whenDrained(transport, callback),
    });
    const more = { socket, transport, shownByBrowser, hasGreeted: false, holds: new Map<string, ByteHold>() };
    const connection: Connection = Object.assign(session, more);
    connections.add(connection);
    connection.cancels.push(startHeartbeat(socket, PING_INTERVAL_MS, clock));
    watchGreeting(connection, clock);
    limitGreeting(connection, limits);
    const closed = operations.opened(adapt(connection, options), connection);
    socket.on("error", (failure) => log.debug({ err: failure }, "A socket failed"));
    socket.once("close", (code, reason) => {
      connections.delete(connection);
      for (const hold of connection.holds.values()) hold.release();
      connection.holds.clear();
      void leave(connection, closed(code, String(reason)), log);
    });
  };

  return {
    accept(request, socket, head) {
      if (isClosing || known >= limits.maxSockets) return refuseUpgrade(socket, "503 Service Unavailable");
      const address = options.rateGate.addressOf(request);
      // Also one on which a token was shown before: who opens the socket is not known yet.
      options.strangers.add(socket, address);
      const shownByBrowser = options.shownByBrowser(request.headers);
      server.handleUpgrade(request, socket, head, (upgraded) =>
        open(upgraded, socket, { address, shownByBrowser }),
      );
    },
    count: () => connections.size,
    async close() {
      isClosing = true;
      await sendAway([...connections].map(toGuest), clock);
      server.close();
    },
  };
}

/** Answers an upgrade that is not taken. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

function watchGreeting(connection: Connection, clock: Clock): void {
  const { socket, transport, cancels } = connection;
  const giveUp = () => {
    if (!connection.hasGreeted) socket.close(INIT_TIMEOUT_CLOSE_CODE, "Connection initialisation timeout");
    // Whoever is not known by then is not waited for, neither for an answer to this nor to an earlier close.
    if (socket.readyState !== socket.OPEN) endNow(transport);
  };
  cancels.push(clock.after(CONNECTION_INIT_WAIT_MS, giveUp));
}

/** Ends the connection when what was written has left; nothing that the other end does or leaves undone delays it. */
function endNow(transport: Duplex): void {
  if (transport.destroyed) return;
  transport.end(() => transport.destroy());
}

/** Strangers get no memory for large frames. A client says nothing else until it is answered, so little is enough. */
function limitGreeting(connection: Connection, { maxGreetingBytes }: HttpLimits): void {
  const { socket, transport } = connection;
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (connection.viewer !== null) transport.off("data", count);
    else if (bytes > maxGreetingBytes) socket.terminate();
  };
  transport.on("data", count);
}

/** True when more waits for the client than may; a client that asks without reading is cut. */
function cutIfUnread(connection: Connection, { limits, accounts, log }: SocketDoorOptions): boolean {
  const { socket } = connection;
  const isBehind = socket.bufferedAmount > MAX_WAITING_BYTES && accounts.isFull(ownerOf(connection));
  if (!isBehind && socket.bufferedAmount <= limits.maxUnsentBytes) return false;
  log.warn({ unsentBytes: socket.bufferedAmount }, "A socket's client does not read; the socket is cut");
  socket.terminate();
  return true;
}

/** How many of something each user holds; users with none take no memory. */
function countByUser(max: number): { take(userId: string): (() => void) | null } {
  const counts = new Map<string, number>();
  const release = (userId: string) => {
    const left = (counts.get(userId) ?? 1) - 1;
    if (left > 0) counts.set(userId, left);
    else counts.delete(userId);
  };
  return {
    take(userId) {
      const held = counts.get(userId) ?? 0;
      if (held >= max) return null;
      counts.set(userId, held + 1);
      return () => release(userId);
    },
  };
}

type ProtocolSocket = Parameters<ReturnType<typeof createSocketOperations>["opened"]>[0];

/** The socket as graphql-ws wants it. `send` waits for the write, which holds a stream back while the client does. */
function adapt(connection: Connection, options: SocketDoorOptions): ProtocolSocket {
  const { socket } = connection;
  const { accounts, log, createRequestId, work } = options;
  return {
    protocol: socket.protocol,
    send: (text) =>
      new Promise((resolve) => {
        if (socket.readyState !== socket.OPEN) return resolve();
        // Small messages are counted once they pile up; large answers are counted already.
        const isCounted = socket.bufferedAmount > MAX_WAITING_BYTES && text.length <= SMALL_ANSWER_BYTES;
        const hold = isCounted ? accounts.open(ownerOf(connection)) : null;
        hold?.force(text.length);
        // A failed write is followed by the close event, which ends everything on this socket.
        socket.send(text, () => {
          hold?.release();
          resolve();
        });
      }),
    close: (code, reason) => socket.close(code, reason),
    onMessage: (take) => {
      socket.on("message", (message) => {
        if (cutIfUnread(connection, options)) return;
        // ws hands over Buffers unless another type is asked for.
        const text = (message as Buffer).toString("utf8");
        if (connection.viewer) work.chargeBytes(connection.viewer.userId, (message as Buffer).length);
        const serve = () =>
          take(text).catch((failure: unknown) => {
            log.warn({ err: failure }, "A socket's message could not be served");
            socket.close(INTERNAL_ERROR_CLOSE_CODE, "Internal server error");
          });
        // Each message is a request of its own, with all that comes of it.
        void runWithContext({ requestId: createRequestId() }, serve);
      });
    },
  };
}

async function leave(connection: Connection, protocolEnd: Promise<void>, log: Log): Promise<void> {
  const protocolLeft = protocolEnd.catch((failure: unknown) => {
    log.error({ err: failure }, "A socket's subscriptions could not be ended");
  });
  await Promise.all([protocolLeft, closeSession(connection, log)]);
}

function toGuest({ socket }: Connection) {
  return {
    leave: () => socket.close(GOING_AWAY_CLOSE_CODE, "Going away"),
    cut: () => socket.terminate(),
    hasLeft: closing(socket),
  };
}

function closing(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => socket.once("close", () => resolve()));
}
