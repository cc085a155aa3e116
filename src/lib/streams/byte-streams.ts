/**
 * Many byte streams over one WebSocket: each message is five bytes of header (what it is, which stream) and what it
 * carries. One end opens streams, the other accepts them; whoever dialled may be either. Each stream has its own flow
 * control, so that one that nobody reads does not hold up the others.
 */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Clock } from "../clock.js";
import { MultiplexedStream, MAX_PIECE_BYTES, type Carrier } from "./multiplexed-stream.js";

/**
 * Streams open at one time on one connection; more are refused. A command that is waited for holds two; each may hold
 * `WINDOW_BYTES` in memory.
 */
export const MAX_STREAMS = 2_000;
const HEADER_BYTES = 5;
/** Largest message that a socket which carries streams must take. */
export const MAX_MULTIPLEXED_MESSAGE_BYTES = HEADER_BYTES + MAX_PIECE_BYTES;
/** Each end pings the other so often, well below the 60 s after which proxies cut an idle connection. */
export const PING_INTERVAL_MS = 10_000;
/** Intervals in which nothing comes at all, after which the other end counts as gone. */
const SILENT_INTERVALS = 2;
/** RFC 6455: the other end does not keep the rules. */
const PROTOCOL_ERROR_CLOSE_CODE = 1002;
const LAST_STREAM_ID = 2 ** 32 - 1;

const KINDS = { open: 1, data: 2, end: 3, reset: 4, credit: 5 } as const;
type Kind = (typeof KINDS)[keyof typeof KINDS];

export type ByteStreams = {
  /** Throws when the connection is gone or carries `MAX_STREAMS` already. The caller owns the stream. */
  open(): Duplex;
  /** Streams that are open. */
  count(): number;
};

export type ByteStreamsOptions = {
  /** Takes a stream that the other end opened, and owns it; without it the other end may open none. */
  accept?: (stream: Duplex) => void;
  /** Takes the text messages that the other end says beside the streams; without it there may be none. */
  onText?: (text: string) => void;
  clock: Clock;
};

/** The socket must be open and its messages must be this function's alone. All streams break with the socket. */
export function multiplexStreams(socket: WebSocket, { accept, onText, clock }: ByteStreamsOptions): ByteStreams {
  const streams = new Map<number, MultiplexedStream>();
  let lastId = 0;
  const add = (id: number) => {
    const stream = new MultiplexedStream(carrierOf(socket, id, () => streams.delete(id)));
    // Whoever works with the stream listens too; an error that nobody heard must not end the program.
    stream.on("error", () => undefined);
    streams.set(id, stream);
    return stream;
  };
  socket.on("message", (message: Buffer, isBinary) => {
    if (!isBinary && onText !== undefined) return onText(message.toString("utf8"));
    const frame = isBinary ? readFrame(message) : null;
    if (frame === null) return socket.close(PROTOCOL_ERROR_CLOSE_CODE, "Not a message of byte streams");
    if (frame.kind !== KINDS.open) return deliver(socket, streams.get(frame.id), frame);
    if (accept === undefined || streams.size >= MAX_STREAMS || streams.has(frame.id)) {
      return send(socket, KINDS.reset, frame.id);
    }
    accept(add(frame.id));
  });
  socket.once("close", () => {
    for (const stream of [...streams.values()]) stream.breakOff(new Error("The connection was lost."));
  });
  watchLife(socket, clock);
  return {
    count: () => streams.size,
    open() {
      if (socket.readyState !== socket.OPEN) throw new Error("The connection was lost.");
      if (streams.size >= MAX_STREAMS || lastId === LAST_STREAM_ID) {
        throw new Error(`The connection carries ${streams.size} streams; there can be no more.`);
      }
      lastId += 1;
      send(socket, KINDS.open, lastId);
      return add(lastId);
    },
  };
}

function carrierOf(socket: WebSocket, id: number, forget: () => void): Carrier {
  return {
    data: (piece, taken) => send(socket, KINDS.data, id, { payload: piece, taken }),
    end: () => send(socket, KINDS.end, id),
    reset: () => send(socket, KINDS.reset, id),
    credit(bytes) {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(bytes);
      send(socket, KINDS.credit, id, { payload });
    },
    forget,
  };
}

type Frame = { kind: number; id: number; payload: Buffer };

function readFrame(message: Buffer): Frame | null {
  if (message.length < HEADER_BYTES) return null;
  return {
    kind: message.readUInt8(0),
    id: message.readUInt32BE(1),
    payload: message.subarray(HEADER_BYTES),
  };
}

/** What comes for a stream that has just ended here is passed over. */
function deliver(socket: WebSocket, stream: MultiplexedStream | undefined, { kind, payload }: Frame): void {
  switch (kind) {
    case KINDS.data:
      if (stream?.arrive(payload) !== false) return;
      return socket.close(PROTOCOL_ERROR_CLOSE_CODE, "More bytes than there was credit for");
    case KINDS.end:
      return stream?.arriveEnd();
    case KINDS.reset:
      return stream?.breakOff(new Error("The other end broke the stream off."));
    case KINDS.credit:
      if (payload.length === 4) return stream?.arriveCredit(payload.readUInt32BE());
  }
  socket.close(PROTOCOL_ERROR_CLOSE_CODE, "Not a message of byte streams");
}

function send(socket: WebSocket, kind: Kind, id: number, more: More = {}): void {
  // A socket that closes breaks all its streams off soon; what is still said is for nobody.
  if (socket.readyState !== socket.OPEN) return more.taken?.(new Error("The connection was lost."));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(id, 1);
  socket.send(more.payload === undefined ? header : Buffer.concat([header, more.payload]), more.taken);
}

/** `taken` is called when the connection has taken the message, or never will. */
type More = { payload?: Buffer; taken?: (error?: Error) => void };

/** Anything that comes is a sign of life, not the answer to a ping alone: that may be behind much else. */
function watchLife(socket: WebSocket, clock: Clock): void {
  let silentIntervals = 0;
  for (const event of ["message", "ping", "pong"]) socket.on(event, () => (silentIntervals = 0));
  const cancel = clock.every(PING_INTERVAL_MS, () => {
    if (silentIntervals >= SILENT_INTERVALS) return socket.terminate();
    silentIntervals += 1;
    if (socket.readyState === socket.OPEN) socket.ping();
  });
  socket.once("close", cancel);
}
