/**
 * Server-Sent Events transport: GraphQL at /graphql/stream, in the "distinct connections mode" of graphql-sse's
 * protocol, for clients whose network blocks WebSockets. One request is one operation. The protocol's other mode is off:
 * it would buffer events for streams that no client has opened.
 */
import { Readable, type Writable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { GraphQLError, type ExecutionResult } from "graphql";
import { createHandler, type Response } from "graphql-sse";
import type { ByteBudget, ByteReservation } from "../../lib/streams/byte-budget.js";
import { maskResult, PacedResults, DeliveryPace } from "./event-streams.js";
import type { Credentials } from "../auth/authentication.js";
import { whenDrained } from "./output-queue.js";
import { unavailable } from "../graphql/refusals.js";
import { ResponseStream } from "./response-stream.js";
import { drainConnections, type DrainableConnection } from "./drain-connections.js";
import { closeSession, newSession, watchAuthorization, type Session } from "./sessions.js";
import { admit, run, subscribe, type AdmittedArgs, type OperationsOptions } from "./socket-operations.js";

/** A response with unsent data of which its client has taken nothing for this long is terminated. */
export const STALL_CHECK_MS = 60_000;
const EVENT_STREAM = "text/event-stream";

export type SseTransportOptions = OperationsOptions;

export type SseTransport = {
  /** Responds to a request with an event stream, or with an error. */
  respond(request: FastifyRequest, reply: FastifyReply, credentials: Credentials): Promise<unknown>;
  /** Open responses. */
  count(): number;
  /** Drains all streams, and rejects new ones. */
  close(): Promise<void>;
};

/** A request whose response is open. */
type OpenResponse = {
  readonly session: Session;
  readonly pace: DeliveryPace;
  /** Taken at the operation's admission, and returned by its execution. */
  slot: AdmittedArgs["slot"] | null;
  permit: AdmittedArgs["permit"] | null;
  /** Ends a stream without `complete`, so that its client reconnects; anything else is still completed. */
  end(): void;
  /** Reservations for results that the client may not have yet. */
  readonly reservations: Set<ByteReservation>;
  readonly raw: Writable;
  /** A subscription is running. */
  isStream: boolean;
  /** The response has ended, or is to end. */
  isOver: boolean;
};

type SseConnection = OpenResponse & { reply: FastifyReply; closed: Promise<void> };

/** Creates the transport. It does not listen itself: the HTTP server passes requests to it. */
export function createSseTransport(options: SseTransportOptions): SseTransport {
  const { limits, log, clock } = options;
  const handle = createProtocol(options);
  const connections = new Set<SseConnection>();
  let isClosing = false;

  const open = (reply: FastifyReply, credentials: Credentials): SseConnection => {
    const connection = createConnection(reply, credentials, options.byteBudget);
    const { session } = connection;
    connections.add(connection);
    session.cancels.push(terminateWhenStalled(connection, clock));
    watchAuthorization(session, credentials.token, { ...options, onLost: () => connection.end() });
    void connection.closed.then(() => {
      connections.delete(connection);
      connection.end();
      for (const reservation of connection.reservations) reservation.release();
      return closeSession(session, log);
    });
    return connection;
  };

  return {
    async respond(request, reply, credentials) {
      if (!accepts(request)) return refuse(reply, 406, notAcceptable());
      if (isClosing || connections.size >= limits.maxSockets)
        return refuse(
          reply,
          503,
          unavailable("This server accepts no more streams at the moment; try again later."),
        );
      const connection = open(reply, credentials);
      const [body, { status, headers }] = await handle(request, connection);
      if (body === null || typeof body === "string") {
        connection.slot?.free();
        connection.permit?.release();
        return refuse(reply, status, toRefusal(body));
      }
      return sendStream(connection, body, { status, headers });
    },
    count: () => connections.size,
    async close() {
      isClosing = true;
      await drainConnections([...connections].map(toDrainable), clock);
    },
  };

  function refuse(reply: FastifyReply, status: number, error: GraphQLError) {
    return reply.code(status).send({ errors: [options.mask(error)] });
  }
}

function createConnection(
  reply: FastifyReply,
  { viewer, address }: Credentials,
  byteBudget: ByteBudget,
): SseConnection {
  const session = newSession(viewer, address, {
    byteBudget,
    isBehind: () => reply.raw.writableNeedDrain && !reply.raw.destroyed,
    onDrained: (callback) => whenDrained(reply.raw, callback),
  });
  const connection: SseConnection = {
    ...{ session, reply, pace: new DeliveryPace(), raw: reply.raw },
    ...{ slot: null, permit: null, reservations: new Set(), isStream: false, isOver: false },
    end: () => (connection.isOver = true),
    closed: new Promise<void>((resolve) => reply.raw.once("close", () => resolve())),
  };
  return connection;
}

/** Sends `body` as it comes, until it ends or the connection's `end` is called. */
function sendStream(
  connection: SseConnection,
  body: AsyncGenerator<string, void>,
  { status, headers }: Pick<Response[1], "status" | "headers">,
): FastifyReply {
  const end = () => {
    connection.isOver = true;
    connection.pace.end();
    void body.return();
  };
  if (connection.isOver) end();
  connection.end = end;
  return connection.reply
    .code(status)
    .headers({ ...headers, "x-accel-buffering": "no" })
    .send(Readable.from(trackDelivery(body, connection), { highWaterMark: 1 }));
}

function toDrainable(connection: SseConnection): DrainableConnection {
  return {
    requestClose: () => connection.end(),
    terminate: () => connection.raw.destroy(),
    closed: connection.closed,
  };
}

/** The graphql-sse handler, with the same gate, slots, execution and error mask as on a WebSocket. */
function createProtocol(options: SseTransportOptions) {
  const { mask } = options;
  const masked = (result: ExecutionResult) => maskResult(result, mask);
  const toFailure = (failure: unknown): ExecutionResult => masked({ errors: [failure as GraphQLError] });
  const handler = createHandler<FastifyRequest, OpenResponse>({
    authenticate: () => null,
    // Done by the document gate.
    validate: () => [],
    onSubscribe: async ({ context }, params) => {
      const admitted = await admit(context.session, params, options);
      // The library streams an object with a `data` property, even if undefined, as a result.
      if (!("document" in admitted)) return masked({ data: undefined as never, errors: admitted });
      context.slot = admitted.slot;
      context.permit = admitted.permit;
      context.reservations.add(admitted.reservation);
      return Object.assign(admitted, { response: context, contextValue: undefined });
    },
    execute: async (args) => masked(await run(args as AdmittedArgs)),
    subscribe: async (args) => {
      const { response, ...admitted } = args as AdmittedArgs & { response: OpenResponse };
      const opened = await subscribe(admitted);
      if (!(opened instanceof ResponseStream)) return masked(opened);
      response.isStream = true;
      const reserved = (result: ExecutionResult) => {
        const reservation = opened.takeReservation();
        if (reservation) response.reservations.add(reservation);
        return masked(result);
      };
      return new PacedResults(opened, response.pace, reserved, toFailure);
    },
  });
  return (request: FastifyRequest, context: OpenResponse): Promise<Response> =>
    handler({
      method: request.method,
      url: request.url,
      headers: { get: (name) => (name === "accept" ? EVENT_STREAM : readHeader(request, name)) },
      body: (request.body as Record<string, unknown> | undefined) ?? null,
      raw: request,
      context,
    });
}

/** The library requires exactly this media type; clients may list more. */
function accepts({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().includes(EVENT_STREAM) ?? false;
}

function readHeader({ headers }: FastifyRequest, name: string): string | undefined {
  const header = headers[name];
  return Array.isArray(header) ? header.join(", ") : header;
}

function notAcceptable(): GraphQLError {
  return new GraphQLError(`This endpoint responds with event streams: send \`Accept: ${EVENT_STREAM}\`.`, {
    extensions: { code: "BAD_REQUEST" },
  });
}

/** Adds a code to the library's error about a malformed request. */
function toRefusal(body: string | null): GraphQLError {
  const known = body === null ? null : (JSON.parse(body) as { errors: { message: string }[] });
  const message = known?.errors[0]?.message ?? "The request is not a valid GraphQL request.";
  return new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } });
}

/** The response's text; each chunk counts as taken when the response asks for the next one. */
async function* trackDelivery(
  body: AsyncGenerator<string, void>,
  response: OpenResponse,
): AsyncGenerator<string> {
  for await (const message of body) {
    // The library also sends `complete` when it is ended.
    if (response.isOver && response.isStream && message.startsWith("event: complete")) return;
    yield message;
    releaseSent(response);
    response.pace.took(message.startsWith("event: next"));
  }
}

/** Releases the reservations of results that were sent, which is when the response's buffer is empty. */
function releaseSent({ reservations, raw }: OpenResponse): void {
  const sent = [...reservations];
  if (sent.length === 0) return;
  const release = () => {
    for (const reservation of sent) {
      reservation.release();
      reservations.delete(reservation);
    }
  };
  if (raw.writableNeedDrain) whenDrained(raw, release);
  else release();
}

/** Terminates a response that has unsent data and has sent nothing since the last check. */
function terminateWhenStalled(
  { pace, reply }: SseConnection,
  clock: SseTransportOptions["clock"],
): () => void {
  let before = -1;
  return clock.every(STALL_CHECK_MS, () => {
    if (reply.raw.writableNeedDrain && pace.parts === before) reply.raw.destroy();
    before = pace.parts;
  });
}
