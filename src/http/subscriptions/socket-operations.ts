/**
 * GraphQL operations over a WebSocket: authentication, admission and execution; event streams share admission and
 * execution. A socket whose token expires or is revoked is closed with 4403, upon which clients fetch a new token and
 * reconnect.
 */
import type { Duplex } from "node:stream";
import { execute, GraphQLError, type ExecutionArgs, type ExecutionResult, type GraphQLSchema } from "graphql";
import { makeServer, type Server } from "graphql-ws";
import type { WebSocket } from "ws";
import type { Traces } from "../../domain/common/traces.js";
import type { Viewer } from "../../domain/users/viewer.js";
import type { Clock } from "../../lib/clock.js";
import { currentContext } from "../../lib/run-context.js";
import type { Log } from "../../lib/log.js";
import type { ByteBudget, ByteReservation } from "../../lib/streams/byte-budget.js";
import { tooManyBytesInFlight } from "../../resolvers/common/response-budget.js";
import type { Requester } from "./event-result.js";
import { boundResult } from "../graphql/response-size.js";
import type { HttpLimits } from "../graphql/limits.js";
import type { AdmittedOperation, DocumentGate } from "../graphql/document-gate.js";
import type { ErrorMask } from "../graphql/errors.js";
import { operationSpan, recordErrors } from "../graphql/operation-span.js";
import type { OperationSlot, OperationSlots } from "./operation-slots.js";
import { unauthenticated } from "../graphql/refusals.js";
import { openResponseStream, ResponseStream, type ResponseStreamDependencies } from "./response-stream.js";
import type { RateGate, TokenGate } from "../common/rate-gate.js";
import type { AuthorizationRevalidator } from "./authorization-revalidator.js";
import { refuseScopes } from "../graphql/scope-gate.js";
import { endStreams, watchAuthorization, type CreateContext, type Session } from "./sessions.js";
import type { SharedOperations } from "./shared-results.js";
import { FrameStream, type FrameTarget } from "./socket-frames.js";
import type { WorkPermit, UserAdmission } from "../graphql/user-admission.js";
import { readSocketToken, type FindViewer } from "../auth/viewer.js";

export const FORBIDDEN_CLOSE_CODE = 4403;
/** graphql-ws clients reconnect after this code, unlike after 4500. */
const TRY_AGAIN_CLOSE_CODE = 1013;

/** One open socket. */
export type Connection = Session & {
  readonly socket: WebSocket;
  /** The underlying stream. */
  readonly transport: Duplex;
  /** The session of the browser that opened the socket; null = none, or not from a page of this deployment. */
  readonly browserSession: string | null;
  /** The client has sent `connection_init`, valid or not. */
  hasSentInit: boolean;
  /** Reservations for unsent results of queries and mutations, by operation id. */
  readonly reservations: Map<string, ByteReservation>;
};

export type OperationsOptions = {
  schema: GraphQLSchema;
  gate: DocumentGate;
  admission: UserAdmission;
  slots: OperationSlots;
  findViewer: FindViewer;
  /** Checks the tokens of new connections; authenticated ones are looked up by `findViewer`. */
  checkToken: TokenGate;
  rateGate: RateGate;
  traces: Traces;
  createContext: CreateContext;
  createRequestId: () => string;
  revalidator: AuthorizationRevalidator;
  /** Running subscriptions, whose results are shared. */
  shared: SharedOperations;
  /** Bytes in flight per user. */
  byteBudget: ByteBudget;
  limits: HttpLimits;
  mask: ErrorMask;
  log: Log;
  clock: Clock;
};

export type SocketOperationsOptions = OperationsOptions & {
  /** Counts the socket for this user; false when the user has too many. */
  claim(connection: Connection, userId: string): boolean;
};

/** An admitted operation, for `run` or `subscribe`, which free the slot. */
export type AdmittedArgs = ExecutionArgs & {
  session: Session;
  slot: OperationSlot;
  /** Released when a query or mutation has run, or when a subscription has been opened. */
  permit: WorkPermit;
  requester: Requester;
  /** Bytes of a query's or mutation's result; released once the result is sent. */
  reservation: ByteReservation;
  maxResponseBytes: number;
  operation: AdmittedOperation;
  /** The request's `extensions`. */
  extensions: SubscribePayload["extensions"];
  traces: Traces;
  shared: SharedOperations;
};

type SocketArgs = AdmittedArgs & { target: FrameTarget };

/** Creates the graphql-ws protocol server. None of its hooks throws. */
export function createSocketOperations(options: SocketOperationsOptions): Server<Connection> {
  const { mask } = options;
  const maskAll = (errors: readonly GraphQLError[]) => errors.map((error) => mask(error));
  return makeServer<Record<string, unknown>, Connection>({
    // The transport has its own timeout, by the injected clock.
    connectionInitWaitTimeout: 0,
    onConnect: (context) => connect(context.extra, context.connectionParams, options),
    onSubscribe: async (context, id, payload) => {
      const admitted = await admit(context.extra, payload, options);
      const { socket, transport, reservations } = context.extra;
      if (!("slot" in admitted)) return admitted;
      if (admitted.operation.operation.operation !== "subscription")
        reservations.set(id, admitted.reservation);
      return { ...admitted, target: { socket, transport, id } };
    },
    // Called after the result was sent.
    onComplete: ({ extra: { reservations } }, id) => {
      reservations.get(id)?.release();
      reservations.delete(id);
    },
    execute: (args) => run(args as AdmittedArgs),
    subscribe: (args) => subscribeSocket(args as SocketArgs),
    onError: (_context, _id, _payload, errors) => maskAll(errors),
    onNext: (...[, , , , result]) => result.errors && { ...result, errors: maskAll(result.errors) },
  });
}

async function connect(
  connection: Connection,
  params: Readonly<Record<string, unknown>> | undefined,
  options: SocketOperationsOptions,
): Promise<boolean> {
  connection.hasSentInit = true;
  const token = readSocketToken(params) ?? connection.browserSession;
  if (token === null) return false;
  try {
    const found = await options.checkToken(token, connection.address);
    if ("retryAfterMs" in found) {
      connection.socket.close(TRY_AGAIN_CLOSE_CODE, "Too many invalid tokens; try again later");
      return true;
    }
    const { viewer } = found;
    if (!viewer) return false;
    if (connection.isClosed) return true;
    if (!options.claim(connection, viewer.userId)) {
      connection.socket.close(TRY_AGAIN_CLOSE_CODE, "Too many sockets");
      return true;
    }
    connection.viewer = viewer;
    watchAuthorization(connection, token, { ...options, onLost: () => forbid(connection, options.log) });
    return true;
  } catch (failure) {
    options.log.error({ err: failure }, "looking up a socket's token failed");
    connection.socket.close(TRY_AGAIN_CLOSE_CODE, "Try again later");
    return true;
  }
}

function forbid(connection: Connection, log: Log): void {
  connection.socket.close(FORBIDDEN_CLOSE_CODE, "Forbidden");
  // The client may delay the close handshake; its subscriptions end now.
  void endStreams(connection, log);
}

type SubscribePayload = Parameters<DocumentGate["admit"]>[0] & {
  extensions?: Readonly<Record<string, unknown>> | null | undefined;
};

/** Admits an operation with a slot and a permit, or returns the errors. Never rejects. */
export async function admit(
  session: Session,
  payload: SubscribePayload,
  options: OperationsOptions,
): Promise<AdmittedArgs | readonly GraphQLError[]> {
  const { viewer } = session;
  if (viewer === null) return [unauthenticated()];
  const slot = options.slots.take(session.count, viewer.userId);
  if (slot instanceof GraphQLError) return [slot];
  const reservation = options.byteBudget.open(viewer.userId);
  const permit = await options.admission.acquire(viewer.userId);
  if (permit instanceof GraphQLError) {
    slot.free();
    return [permit];
  }
  const admitted = await check(session, payload, { ...options, viewer, permit, reservation }).catch(
    (failure: unknown) => [wrap(failure)],
  );
  if ("operation" in admitted)
    return argsOf(admitted.operation, { session, slot, permit, reservation, payload, options, viewer });
  permit.release();
  slot.free();
  return admitted;
}

/** The operation, or the errors that it is refused with. */
async function check(
  session: Session,
  payload: SubscribePayload,
  {
    gate,
    rateGate,
    viewer,
    permit,
    reservation,
  }: OperationsOptions & { viewer: Viewer; permit: WorkPermit; reservation: ByteReservation },
): Promise<{ operation: AdmittedOperation } | readonly GraphQLError[]> {
  if (!gate.isKnown(payload.query)) await permit.turn();
  const admission = permit.measure(() => gate.admit(payload));
  if (admission.kind === "refused") return admission.errors;
  const { operation } = admission;
  if (reservation.isFull && operation.operation.operation !== "subscription") return [tooManyBytesInFlight()];
  const outOfScope = refuseScopes(operation.document, operation.operation, viewer);
  if (outOfScope) return [outOfScope];
  const source = { viewer, address: session.address };
  const tooOften = await rateGate.refuseOperation(operation.document, operation.operation, source);
  const refusal =
    tooOften ?? (operation.operation.operation === "mutation" ? await permit.acquireMutation() : undefined);
  return refusal ? [refusal] : { operation };
}

type Admitted = Pick<AdmittedArgs, "session" | "slot" | "permit" | "reservation"> & {
  payload: SubscribePayload;
  options: OperationsOptions;
  viewer: Viewer;
};

function argsOf(operation: AdmittedOperation, admitted: Admitted): AdmittedArgs {
  const { session, slot, permit, reservation, payload, options, viewer } = admitted;
  const request = { requestId: currentContext()?.requestId ?? options.createRequestId() };
  const { document, operationName, variableValues } = operation;
  return {
    schema: options.schema,
    document,
    operationName,
    variableValues,
    rootValue: undefined,
    contextValue: undefined,
    session,
    slot,
    permit,
    requester: {
      viewer: () => session.viewer ?? viewer,
      createContext: (eventReservation) =>
        options.createContext(session.viewer ?? viewer, { ...request, reservation: eventReservation }),
    },
    reservation,
    maxResponseBytes: options.limits.maxResponseBytes,
    operation,
    extensions: payload.extensions,
    traces: options.traces,
    shared: options.shared,
  };
}

/** Executes a query or mutation. Never rejects. */
export function run(args: AdmittedArgs): Promise<ExecutionResult> {
  return args.traces.within(operationSpan(args.operation.operation, args.extensions), async (span) => {
    const result = await execution(args);
    recordErrors(span, result.errors ?? []);
    return result;
  });
}

async function execution(args: AdmittedArgs): Promise<ExecutionResult> {
  const { slot, permit, requester, schema, operation, reservation, maxResponseBytes: maxBytes } = args;
  const { document, operationName, variableValues } = operation;
  const isMutation = operation.operation.operation === "mutation";
  try {
    permit.start(operation.cost);
    const contextValue = requester.createContext(reservation);
    const result = await execute({ schema, document, operationName, variableValues, contextValue });
    return boundResult(result, { maxBytes, reservation, isMutation });
  } catch (failure) {
    return { errors: [wrap(failure)] };
  } finally {
    permit.release();
    slot.free();
  }
}

/** Opens a subscription; returns a result with errors when it cannot be opened. Never rejects. */
export function subscribe(args: AdmittedArgs): Promise<ResponseStream | ExecutionResult> {
  // The span covers the opening only: a stream runs for hours.
  return args.traces.within(operationSpan(args.operation.operation, args.extensions), async (span) => {
    const opened = await open(args);
    if (!(opened instanceof ResponseStream)) recordErrors(span, opened.errors ?? []);
    return opened;
  });
}

async function open(args: AdmittedArgs): Promise<ResponseStream | ExecutionResult> {
  const { slot, permit, requester, session, schema, operation, shared } = args;
  const { streams } = session;
  const running = shared.acquire(operation);
  let stream: ResponseStream | undefined;
  const onEnd = () => {
    slot.free();
    shared.release(running);
    if (stream) streams.delete(stream);
  };
  try {
    const { document, operationName, variableValues } = operation;
    const execution = { schema, document, operationName, variableValues };
    const resultOf: ResponseStreamDependencies["resultOf"] = (event, audience) =>
      running.resultOf(event, requester, audience);
    const createContext = () => requester.createContext();
    const dependencies = { createContext, resultOf, output: session.output, onEnd };
    const opened = await openResponseStream(execution, dependencies);
    if (!(opened instanceof ResponseStream)) return opened;
    stream = opened;
    streams.add(stream);
    // The client may have left while it was being opened.
    if (session.isClosed) await stream.return();
    return stream;
  } catch (failure) {
    return { errors: [wrap(failure)] };
  } finally {
    permit.release();
  }
}

async function subscribeSocket(args: SocketArgs): Promise<FrameStream | ExecutionResult> {
  const opened = await subscribe(args);
  return opened instanceof ResponseStream ? new FrameStream(opened, args.target) : opened;
}

/** Wraps anything thrown into a GraphQLError, as graphql-ws requires; the error mask unwraps the cause. */
function wrap(failure: unknown): GraphQLError {
  if (failure instanceof GraphQLError) return failure;
  const originalError = failure instanceof Error ? failure : new Error(String(failure));
  return new GraphQLError(originalError.message, { originalError });
}
