/**
 * The GraphQL half of a socket: who may connect, which operations may run, and how they run. A socket is
 * connected when its token is good, and loses that when the token expires or is revoked: then it is closed with
 * 4403, upon which clients fetch a new token and come back.
 */
import { execute, GraphQLError, type ExecutionArgs, type ExecutionResult, type GraphQLSchema } from "graphql";
import { makeServer, type Server } from "graphql-ws";
import type { WebSocket } from "ws";
import type { Viewer } from "../domain/viewer.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { DocumentGate } from "./document-gate.js";
import type { ErrorMask } from "./errors.js";
import type { OperationSlot, OperationSlots, SocketCount } from "./operation-slots.js";
import { unauthenticated } from "./refusals.js";
import { openResponseStream, ResponseStream, type AnswerEvents } from "./response-stream.js";
import { readSocketToken, type FindViewer } from "./viewer.js";

export const FORBIDDEN_CLOSE_CODE = 4403;
/** graphql-ws clients come back after this one, unlike after 4500. */
const TRY_AGAIN_CLOSE_CODE = 1013;
/** A client that has not said who it is by then is closed with 4408. */
const CONNECTION_INIT_WAIT_MS = 3_000;
/** A revoked token loses its open sockets within this time. */
const REAUTHENTICATE_MS = 60_000;
/** Longest wait of a Node timer. */
const MAX_TIMER_MS = 2_147_483_647;

/** One open socket. */
export type Connection = {
  readonly socket: WebSocket;
  readonly count: SocketCount;
  /** Streams that have not ended; ended by the socket's close whatever graphql-ws knows of them. */
  readonly streams: Set<ResponseStream>;
  /** Cancel the timers that watch over the socket. */
  readonly cancels: (() => void)[];
  /** Null until the client has shown a good token. */
  viewer: Viewer | null;
  isClosed: boolean;
};

export type CreateContext = (viewer: Viewer, request: { requestId: string }) => object;

export type SocketOperationsOptions = {
  schema: GraphQLSchema;
  gate: DocumentGate;
  slots: OperationSlots;
  findViewer: FindViewer;
  createContext: CreateContext;
  createRequestId: () => string;
  /** Shortcuts for a subscription's most frequent events; without it every event is executed. */
  answerEvents?: AnswerEvents;
  mask: ErrorMask;
  log: Log;
  clock: Clock;
};

/** What `onSubscribe` hands to `execute` and `subscribe`. */
type AdmittedArgs = ExecutionArgs & {
  connection: Connection;
  slot: OperationSlot;
  createContext: () => object;
  answerEvents?: AnswerEvents;
};

/** The protocol server of graphql-ws with our rules in all its hooks; none of them throws. */
export function createSocketOperations(options: SocketOperationsOptions): Server<Connection> {
  const { mask } = options;
  const maskAll = (errors: readonly GraphQLError[]) => errors.map((error) => mask(error));
  return makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: CONNECTION_INIT_WAIT_MS,
    onConnect: (context) => connect(context.extra, context.connectionParams, options),
    onSubscribe: (context, _id, payload) => admit(context.extra, payload, options),
    execute: (args) => run(args as AdmittedArgs),
    subscribe: (args) => subscribe(args as AdmittedArgs),
    onError: (_context, _id, _payload, errors) => maskAll(errors),
    onNext: (...[, , , , result]) => result.errors && { ...result, errors: maskAll(result.errors) },
  });
}

async function connect(
  connection: Connection,
  params: Readonly<Record<string, unknown>> | undefined,
  options: SocketOperationsOptions,
): Promise<boolean> {
  const token = readSocketToken(params);
  if (token === null) return false;
  try {
    const viewer = await options.findViewer(token);
    if (!viewer) return false;
    if (connection.isClosed) return true;
    connection.viewer = viewer;
    watchExpiry(connection, options);
    watchRevocation(connection, token, options);
    return true;
  } catch (failure) {
    options.log.error({ err: failure }, "A socket's token could not be looked up");
    connection.socket.close(TRY_AGAIN_CLOSE_CODE, "Try again later");
    return true;
  }
}

function watchExpiry(connection: Connection, { clock, log }: SocketOperationsOptions): void {
  const wait = () => {
    const expiresAt = connection.viewer?.expiresAt ?? null;
    if (expiresAt === null) return;
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0) return forbid(connection, log);
    cancels[index] = clock.after(Math.min(leftMs, MAX_TIMER_MS), wait);
  };
  const { cancels } = connection;
  const index = cancels.push(() => undefined) - 1;
  wait();
}

function watchRevocation(connection: Connection, token: string, options: SocketOperationsOptions): void {
  const check = async () => {
    try {
      const viewer = await options.findViewer(token);
      if (viewer) connection.viewer = viewer;
      else forbid(connection, options.log);
    } catch (failure) {
      // Not knowing is no reason to throw a viewer out; the next round asks again.
      options.log.warn({ err: failure }, "An open socket's token could not be looked up");
    }
  };
  connection.cancels.push(options.clock.every(REAUTHENTICATE_MS, () => void check()));
}

function forbid(connection: Connection, log: Log): void {
  connection.socket.close(FORBIDDEN_CLOSE_CODE, "Forbidden");
  // The client may take its time to close; what it watched ends now.
  void endStreams(connection, log);
}

/** Ends what still streams on this socket. Never rejects; failures are logged. */
export async function endStreams(connection: Connection, log: Log): Promise<void> {
  const ends = [...connection.streams].map((stream) => stream.return());
  for (const end of await Promise.allSettled(ends)) {
    if (end.status === "rejected") log.error({ err: end.reason }, "A subscription could not be ended");
  }
}

type SubscribePayload = Parameters<DocumentGate["admit"]>[0];

function admit(
  connection: Connection,
  payload: SubscribePayload,
  options: SocketOperationsOptions,
): AdmittedArgs | readonly GraphQLError[] {
  const { viewer } = connection;
  if (viewer === null) return [unauthenticated()];
  try {
    const admission = options.gate.admit(payload);
    if (admission.kind === "refused") return admission.errors;
    const slot = options.slots.take(connection.count, viewer.userId);
    if (slot instanceof GraphQLError) return [slot];
    const request = { requestId: options.createRequestId() };
    const { document, operationName, variableValues } = admission.operation;
    return {
      schema: options.schema,
      document,
      operationName,
      variableValues,
      rootValue: undefined,
      contextValue: undefined,
      connection,
      slot,
      createContext: () => options.createContext(connection.viewer ?? viewer, request),
      answerEvents: options.answerEvents,
    };
  } catch (failure) {
    return [wrap(failure)];
  }
}

async function run(args: AdmittedArgs): Promise<ExecutionResult> {
  const { slot, createContext, connection: _connection, answerEvents: _shortcuts, ...execution } = args;
  try {
    return await execute({ ...execution, contextValue: createContext() });
  } catch (failure) {
    return { errors: [wrap(failure)] };
  } finally {
    slot.free();
  }
}

async function subscribe(args: AdmittedArgs): Promise<ResponseStream | ExecutionResult> {
  const { slot, createContext, connection, answerEvents, ...execution } = args;
  const { streams } = connection;
  let stream: ResponseStream | undefined;
  const onEnd = () => {
    slot.free();
    if (stream) streams.delete(stream);
  };
  try {
    const opened = await openResponseStream(execution, createContext, { onEnd, answerEvents });
    if (!(opened instanceof ResponseStream)) return opened;
    stream = opened;
    streams.add(stream);
    return stream;
  } catch (failure) {
    return { errors: [wrap(failure)] };
  }
}

/** Anything thrown as an error that graphql-ws accepts; the mask finds the cause again. */
function wrap(failure: unknown): GraphQLError {
  if (failure instanceof GraphQLError) return failure;
  const originalError = failure instanceof Error ? failure : new Error(String(failure));
  return new GraphQLError(originalError.message, { originalError });
}
