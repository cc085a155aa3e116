/**
 * The second door for streams: GraphQL over Server-Sent Events at /graphql/stream, in the "distinct connections
 * mode" of graphql-sse's protocol, for clients whose network lets no socket through. One request is one operation.
 * The protocol's other mode is off: it would keep events in memory for streams that nobody has opened.
 */
import { Readable, type Writable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { GraphQLError, type ExecutionResult } from "graphql";
import { createHandler, type Response } from "graphql-sse";
import type { ByteHold } from "../../lib/streams/byte-accounts.js";
import { maskAnswer, PacedAnswers, ReadingPace } from "./event-streams.js";
import type { Credentials } from "../auth/identification.js";
import { whenDrained } from "./outlet.js";
import { unavailable } from "../graphql/refusals.js";
import { ResponseStream } from "./response-stream.js";
import { sendAway } from "./drain-connections.js";
import { closeSession, newSession, watchRights, type Session } from "./sessions.js";
import { admit, run, subscribe, type AdmittedArgs, type OperationsOptions } from "./socket-operations.js";

/** A response whose client has taken nothing for this long, though there is something to take, is cut. */
export const STALL_CHECK_MS = 60_000;
const EVENT_STREAM = "text/event-stream";

export type StreamDoorOptions = OperationsOptions;

export type StreamDoor = {
  /** Answers a request: with an event stream, or with the reason why there is none. */
  answer(request: FastifyRequest, reply: FastifyReply, credentials: Credentials): Promise<unknown>;
  /** Responses that are open now. */
  count(): number;
  /** Ends all streams, in slices over time; takes no new ones. */
  close(): Promise<void>;
};

/** One request while its response is open. */
type Visit = {
  readonly session: Session;
  readonly pace: ReadingPace;
  /** Held from the operation's admission; who runs the operation gives it back. */
  slot: AdmittedArgs["slot"] | null;
  place: AdmittedArgs["place"] | null;
  /** Ends a stream without `complete`, so that its client comes back; anything else is still answered. */
  leave(): void;
  /** Room for answers that the client may not have yet. */
  readonly holds: Set<ByteHold>;
  /** The response. */
  readonly raw: Writable;
  /** A subscription is running. */
  isStream: boolean;
  /** The response is over, or is to be. */
  isOver: boolean;
};

type Guest = Visit & { reply: FastifyReply; hasLeft: Promise<void> };

/** Opens the door. It listens on nothing by itself: the HTTP server hands it its requests. */
export function createStreamDoor(options: StreamDoorOptions): StreamDoor {
  const { limits, log, clock } = options;
  const respond = createProtocol(options);
  const guests = new Set<Guest>();
  let isClosing = false;

  const enter = (reply: FastifyReply, { viewer, token, address }: Credentials): Guest => {
    const session = newSession(viewer, address, {
      accounts: options.accounts,
      isBehind: () => reply.raw.writableNeedDrain && !reply.raw.destroyed,
      onDrained: (callback) => whenDrained(reply.raw, callback),
    });
    const pace = new ReadingPace();
    const hasLeft = new Promise<void>((resolve) => reply.raw.once("close", () => resolve()));
    const guest: Guest = {
      session,
      pace,
      slot: null,
      place: null,
      holds: new Set(),
      raw: reply.raw,
      isStream: false,
      isOver: false,
      leave: () => undefined,
      reply,
      hasLeft,
    };
    guest.leave = () => (guest.isOver = true);
    guests.add(guest);
    session.cancels.push(watchStall(guest, clock));
    watchRights(session, token, { ...options, onLost: () => guest.leave() });
    void hasLeft.then(() => {
      guests.delete(guest);
      guest.leave();
      for (const hold of guest.holds) hold.release();
      return closeSession(session, log);
    });
    return guest;
  };

  return {
    async answer(request, reply, credentials) {
      if (!accepts(request)) return refuse(reply, 406, notAcceptable());
      if (isClosing || guests.size >= limits.maxSockets)
        return refuse(reply, 503, unavailable("This server takes no more streams now; try again later."));
      const guest = enter(reply, credentials);
      const [body, { status, headers }] = await respond(request, guest);
      if (body === null || typeof body === "string") {
        guest.slot?.free();
        guest.place?.leave();
        return refuse(reply, status, toRefusal(body));
      }
      const end = () => {
        guest.isOver = true;
        guest.pace.end();
        void body.return();
      };
      if (guest.isOver) end();
      guest.leave = end;
      return reply
        .code(status)
        .headers({ ...headers, "x-accel-buffering": "no" })
        .send(Readable.from(counted(body, guest), { highWaterMark: 1 }));
    },
    count: () => guests.size,
    async close() {
      isClosing = true;
      const leaving = [...guests].map((guest) => ({
        leave: () => guest.leave(),
        cut: () => guest.reply.raw.destroy(),
        hasLeft: guest.hasLeft,
      }));
      await sendAway(leaving, clock);
    },
  };

  function refuse(reply: FastifyReply, status: number, error: GraphQLError) {
    return reply.code(status).send({ errors: [options.mask(error)] });
  }
}

/** graphql-sse with our rules in its hooks: the same gate, slots, execution and masks as on a socket. */
function createProtocol(options: StreamDoorOptions) {
  const { mask } = options;
  const masked = (result: ExecutionResult) => maskAnswer(result, mask);
  const toFailure = (failure: unknown): ExecutionResult => masked({ errors: [failure as GraphQLError] });
  const handler = createHandler<FastifyRequest, Visit>({
    authenticate: () => null,
    // The gate has done it.
    validate: () => [],
    onSubscribe: async ({ context }, params) => {
      const admitted = await admit(context.session, params, options);
      // With `data`, be it undefined, it is an answer to the library, which is streamed as the protocol says.
      if (!("document" in admitted)) return masked({ data: undefined as never, errors: admitted });
      context.slot = admitted.slot;
      context.place = admitted.place;
      context.holds.add(admitted.hold);
      return Object.assign(admitted, { visit: context, contextValue: undefined });
    },
    execute: async (args) => masked(await run(args as AdmittedArgs)),
    subscribe: async (args) => {
      const { visit, ...admitted } = args as AdmittedArgs & { visit: Visit };
      const opened = await subscribe(admitted);
      if (!(opened instanceof ResponseStream)) return masked(opened);
      visit.isStream = true;
      const made = (result: ExecutionResult) => {
        const hold = opened.takeHold();
        if (hold) visit.holds.add(hold);
        return masked(result);
      };
      return new PacedAnswers(opened, visit.pace, made, toFailure);
    },
  });
  return (request: FastifyRequest, visit: Visit): Promise<Response> =>
    handler({
      method: request.method,
      url: request.url,
      headers: { get: (name) => (name === "accept" ? EVENT_STREAM : readHeader(request, name)) },
      body: (request.body as Record<string, unknown> | undefined) ?? null,
      raw: request,
      context: visit,
    });
}

/** The library wants the header to be exactly this; clients may list more. */
function accepts({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().includes(EVENT_STREAM) ?? false;
}

function readHeader({ headers }: FastifyRequest, name: string): string | undefined {
  const header = headers[name];
  return Array.isArray(header) ? header.join(", ") : header;
}

function notAcceptable(): GraphQLError {
  return new GraphQLError(`This address answers with streams: send \`Accept: ${EVENT_STREAM}\`.`, {
    extensions: { code: "BAD_REQUEST" },
  });
}

/** What the library says about a request that it cannot read, with a code. */
function toRefusal(body: string | null): GraphQLError {
  const known = body === null ? null : (JSON.parse(body) as { errors: { message: string }[] });
  const message = known?.errors[0]?.message ?? "The request is no GraphQL request.";
  return new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } });
}

/** The response's text; each part counts as taken when the response asks for the next one. */
async function* counted(body: AsyncGenerator<string, void>, visit: Visit): AsyncGenerator<string> {
  for await (const message of body) {
    // The library completes what it is made to end, too.
    if (visit.isOver && visit.isStream && message.startsWith("event: complete")) return;
    yield message;
    giveBack(visit);
    visit.pace.took(message.startsWith("event: next"));
  }
}

/** What the response has taken is with the network as soon as nothing of it waits any more. */
function giveBack({ holds, raw }: Visit): void {
  const taken = [...holds];
  if (taken.length === 0) return;
  const release = () => {
    for (const hold of taken) {
      hold.release();
      holds.delete(hold);
    }
  };
  if (raw.writableNeedDrain) whenDrained(raw, release);
  else release();
}

/** Cuts a response that has something to send and could send nothing since the last look. */
function watchStall({ pace, reply }: Guest, clock: StreamDoorOptions["clock"]): () => void {
  let before = -1;
  return clock.every(STALL_CHECK_MS, () => {
    if (reply.raw.writableNeedDrain && pace.parts === before) reply.raw.destroy();
    before = pace.parts;
  });
}
