/**
 * Multiplexes byte streams over one WebSocket. Each message is a header of five bytes (kind, stream id) and a payload. One
 * end opens streams, the other accepts them, whichever of them dialled. Each stream has its own flow control, so that one
 * that is not read does not block the others.
 */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Clock } from "../clock.js";
import { MultiplexedStream, MAX_CHUNK_BYTES, type FrameSender } from "./multiplexed-stream.js";

/**
 * Streams open at one time on one connection; more are refused. A command that is waited for uses two; each may buffer
 * `WINDOW_BYTES` in memory.
 */
export const MAX_STREAMS = 2_000;
const HEADER_BYTES = 5;
/** Largest message that a socket with multiplexed streams must accept. */
export const MAX_MULTIPLEXED_MESSAGE_BYTES = HEADER_BYTES + MAX_CHUNK_BYTES;
/** Each end pings the other so often, well below the 60 s after which proxies cut an idle connection. */
export const PING_INTERVAL_MS = 10_000;
/** Intervals without any message after which the other end counts as gone. */
const SILENT_INTERVALS = 2;
/** RFC 6455: protocol error of the other end. */
const PROTOCOL_ERROR_CLOSE_CODE = 1002;
const LAST_STREAM_ID = 2 ** 32 - 1;

const KINDS = { open: 1, data: 2, end: 3, reset: 4, credit: 5 } as const;
type Kind = (typeof KINDS)[keyof typeof KINDS];

export type ByteStreams = {
  /** Throws when the connection is lost or has `MAX_STREAMS` already. The caller owns the stream. */
  open(): Duplex;
  /** Open streams. */
  count(): number;
};

export type ByteStreamsOptions = {
  /** Receives, and owns, a stream that the other end opened; without it the other end may open none. */
  accept?: (stream: Duplex) => void;
  /** Receives the text messages that the other end sends beside the streams; without it they are a protocol error. */
  onText?: (text: string) => void;
  clock: Clock;
};

/** The socket must be open, and nothing else may read its messages. All streams are destroyed when it closes. */
export function multiplexStreams(
  socket: WebSocket,
  { accept, onText, clock }: ByteStreamsOptions,
): ByteStreams {
  const streams = new Map<number, MultiplexedStream>();
  let lastId = 0;
  const add = (id: number) => {
    const stream = new MultiplexedStream(senderOf(socket, id, () => streams.delete(id)));
    // The stream's owner listens too; without any listener an error would end the process.
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
    for (const stream of [...streams.values()]) stream.abort(new Error("The connection was lost."));
  });
  monitorLiveness(socket, clock);
  return {
    count: () => streams.size,
    open() {
      if (socket.readyState !== socket.OPEN) throw new Error("The connection was lost.");
      if (streams.size >= MAX_STREAMS || lastId === LAST_STREAM_ID) {
        throw new Error(`The connection has ${streams.size} streams; there can be no more.`);
      }
      lastId += 1;
      send(socket, KINDS.open, lastId);
      return add(lastId);
    },
  };
}

function senderOf(socket: WebSocket, id: number, closed: () => void): FrameSender {
  return {
    data: (chunk, sent) => send(socket, KINDS.data, id, { payload: chunk, sent }),
    end: () => send(socket, KINDS.end, id),
    reset: () => send(socket, KINDS.reset, id),
    credit(bytes) {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(bytes);
      send(socket, KINDS.credit, id, { payload });
    },
    closed,
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

/** Frames for a stream that has just ended here are ignored. */
function deliver(socket: WebSocket, stream: MultiplexedStream | undefined, { kind, payload }: Frame): void {
  switch (kind) {
    case KINDS.data:
      if (stream?.receive(payload) !== false) return;
      return socket.close(PROTOCOL_ERROR_CLOSE_CODE, "More bytes than there was credit for");
    case KINDS.end:
      return stream?.receiveEnd();
    case KINDS.reset:
      return stream?.abort(new Error("The other end reset the stream."));
    case KINDS.credit:
      if (payload.length === 4) return stream?.receiveCredit(payload.readUInt32BE());
  }
  socket.close(PROTOCOL_ERROR_CLOSE_CODE, "Not a message of byte streams");
}

function send(socket: WebSocket, kind: Kind, id: number, { payload, sent }: FrameBody = {}): void {
  // A closing socket is about to abort all its streams.
  if (socket.readyState !== socket.OPEN) return sent?.(new Error("The connection was lost."));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(id, 1);
  socket.send(payload === undefined ? header : Buffer.concat([header, payload]), sent);
}

/** `sent` is called when the connection has taken the message, or with the error when it never will. */
type FrameBody = { payload?: Buffer; sent?: (error?: Error) => void };

/** Any message is a sign of life, not only a pong, which may be queued behind much else. */
function monitorLiveness(socket: WebSocket, clock: Clock): void {
  let silentIntervals = 0;
  for (const event of ["message", "ping", "pong"]) socket.on(event, () => (silentIntervals = 0));
  const cancel = clock.every(PING_INTERVAL_MS, () => {
    if (silentIntervals >= SILENT_INTERVALS) return socket.terminate();
    silentIntervals += 1;
    if (socket.readyState === socket.OPEN) socket.ping();
  });
  socket.once("close", cancel);
}
