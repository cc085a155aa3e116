/**
 * The GraphQL half of a socket: who may connect, which operations may run, and how they run; event streams run
 * theirs the same way. A socket is connected when its token is good, and loses that when the token expires or is
 * revoked: then it is closed with 4403, upon which clients fetch a new token and come back.
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
import type { ByteAccounts, ByteHold } from "../../lib/streams/byte-accounts.js";
import { tooMuchUnderWay } from "../../resolvers/common/answer-budget.js";
import type { Asker } from "./answer.js";
import { boundAnswer } from "../graphql/answer-size.js";
import type { HttpLimits } from "../graphql/limits.js";
import type { AdmittedOperation, DocumentGate } from "../graphql/document-gate.js";
import type { ErrorMask } from "../graphql/errors.js";
import { operationSpan, tellErrors } from "../graphql/operation-span.js";
import type { OperationSlot, OperationSlots } from "./operation-slots.js";
import { unauthenticated } from "../graphql/refusals.js";
import { openResponseStream, ResponseStream, type StreamParts } from "./response-stream.js";
import type { RateGate, TokenGate } from "../common/rate-gate.js";
import type { RightsRounds } from "./authorization-revalidator.js";
import { refuseScopes } from "../graphql/scope-gate.js";
import { endStreams, watchRights, type CreateContext, type Session } from "./sessions.js";
import type { SharedOperations } from "./shared-answers.js";
import { FrameStream, type FrameTarget } from "./socket-frames.js";
import type { Place, UserWork } from "../graphql/user-work.js";
import { readSocketToken, type FindViewer } from "../auth/viewer.js";

export const FORBIDDEN_CLOSE_CODE = 4403;
/** graphql-ws clients come back after this one, unlike after 4500. */
const TRY_AGAIN_CLOSE_CODE = 1013;

/** One open socket. */
export type Connection = Session & {
  readonly socket: WebSocket;
  /** What the socket writes to. */
  readonly transport: Duplex;
  /** What the browser brought along when it opened the socket; null = nothing that counts. */
  readonly shownByBrowser: string | null;
  /** The client has said who it is, be it true or not. */
  hasGreeted: boolean;
  /** Of answers to queries and mutations that are on their way, by the operation's id. */
  readonly holds: Map<string, ByteHold>;
};

export type OperationsOptions = {
  schema: GraphQLSchema;
  gate: DocumentGate;
  work: UserWork;
  slots: OperationSlots;
  findViewer: FindViewer;
  /** For tokens of those who come new; whoever is in is looked up by `findViewer`. */
  checkToken: TokenGate;
  rateGate: RateGate;
  traces: Traces;
  createContext: CreateContext;
  createRequestId: () => string;
  rounds: RightsRounds;
  /** What is running now, so that subscribers of the same share the answers. */
  shared: SharedOperations;
  /** Bytes that are under way to each user. */
  accounts: ByteAccounts;
  limits: HttpLimits;
  mask: ErrorMask;
  log: Log;
  clock: Clock;
};

export type SocketOperationsOptions = OperationsOptions & {
  /** Counts the socket as this user's; false when the user has too many. */
  claim(connection: Connection, userId: string): boolean;
};

/** What `admit` hands to `run` and `subscribe`, which give the slot back. */
export type AdmittedArgs = ExecutionArgs & {
  session: Session;
  slot: OperationSlot;
  /** Left when a query or mutation has run, or when a subscription has been opened. */
  place: Place;
  asker: Asker;
  /** Holds the bytes of a query's or mutation's answer; the sender of the answer releases it. */
  hold: ByteHold;
  maxAnswerBytes: number;
  operation: AdmittedOperation;
  /** The client's own, of the operation. */
  extensions: SubscribePayload["extensions"];
  traces: Traces;
  shared: SharedOperations;
};

type SocketArgs = AdmittedArgs & { target: FrameTarget };

/** The protocol server of graphql-ws with our rules in all its hooks; none of them throws. */
export function createSocketOperations(options: SocketOperationsOptions): Server<Connection> {
  const { mask } = options;
  const maskAll = (errors: readonly GraphQLError[]) => errors.map((error) => mask(error));
  return makeServer<Record<string, unknown>, Connection>({
    // The door waits for it by itself, by its own clock.
    connectionInitWaitTimeout: 0,
    onConnect: (context) => connect(context.extra, context.connectionParams, options),
    onSubscribe: async (context, id, payload) => {
      const admitted = await admit(context.extra, payload, options);
      const { socket, transport, holds } = context.extra;
      if (!("slot" in admitted)) return admitted;
      if (admitted.operation.operation.operation !== "subscription") holds.set(id, admitted.hold);
      return { ...admitted, target: { socket, transport, id } };
    },
    // By then its answer has left.
    onComplete: ({ extra: { holds } }, id) => {
      holds.get(id)?.release();
      holds.delete(id);
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
  connection.hasGreeted = true;
  const token = readSocketToken(params) ?? connection.shownByBrowser;
  if (token === null) return false;
  try {
    const found = await options.checkToken(token, connection.address);
    if ("retryAfterMs" in found) {
      connection.socket.close(TRY_AGAIN_CLOSE_CODE, "Too many bad tokens; try again later");
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
    watchRights(connection, token, { ...options, onLost: () => forbid(connection, options.log) });
    return true;
  } catch (failure) {
    options.log.error({ err: failure }, "A socket's token could not be looked up");
    connection.socket.close(TRY_AGAIN_CLOSE_CODE, "Try again later");
    return true;
  }
}

function forbid(connection: Connection, log: Log): void {
  connection.socket.close(FORBIDDEN_CLOSE_CODE, "Forbidden");
  // The client may take its time to close; what it watched ends now.
  void endStreams(connection, log);
}

type SubscribePayload = Parameters<DocumentGate["admit"]>[0] & {
  extensions?: Readonly<Record<string, unknown>> | null | undefined;
};

/** Lets an operation in, with a slot and a place that `run` or `subscribe` give back, or says why not. Never rejects. */
export async function admit(
  session: Session,
  payload: SubscribePayload,
  options: OperationsOptions,
): Promise<AdmittedArgs | readonly GraphQLError[]> {
  const { viewer } = session;
  if (viewer === null) return [unauthenticated()];
  const slot = options.slots.take(session.count, viewer.userId);
  if (slot instanceof GraphQLError) return [slot];
  const hold = options.accounts.open(viewer.userId);
  const place = await options.work.enter(viewer.userId);
  if (place instanceof GraphQLError) {
    slot.free();
    return [place];
  }
  const admitted = await judge(session, payload, { ...options, viewer, place, hold }).catch(
    (failure: unknown) => [wrap(failure)],
  );
  if ("operation" in admitted)
    return argsOf(admitted.operation, { session, slot, place, hold, payload, options, viewer });
  place.leave();
  slot.free();
  return admitted;
}

/** The operation, or why it may not run. */
async function judge(
  session: Session,
  payload: SubscribePayload,
  {
    gate,
    rateGate,
    viewer,
    place,
    hold,
  }: OperationsOptions & { viewer: Viewer; place: Place; hold: ByteHold },
): Promise<{ operation: AdmittedOperation } | readonly GraphQLError[]> {
  if (!gate.isKnown(payload.query)) await place.turn();
  const admission = place.measure(() => gate.admit(payload));
  if (admission.kind === "refused") return admission.errors;
  const { operation } = admission;
  if (hold.isFull && operation.operation.operation !== "subscription") return [tooMuchUnderWay()];
  const outOfScope = refuseScopes(operation.document, operation.operation, viewer);
  if (outOfScope) return [outOfScope];
  const asking = { viewer, address: session.address };
  const tooOften = await rateGate.refuseOperation(operation.document, operation.operation, asking);
  const refusal =
    tooOften ?? (operation.operation.operation === "mutation" ? await place.mutate() : undefined);
  return refusal ? [refusal] : { operation };
}

type Admitted = Pick<AdmittedArgs, "session" | "slot" | "place" | "hold"> & {
  payload: SubscribePayload;
  options: OperationsOptions;
  viewer: Viewer;
};

function argsOf(operation: AdmittedOperation, admitted: Admitted): AdmittedArgs {
  const { session, slot, place, hold, payload, options, viewer } = admitted;
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
    place,
    asker: {
      viewer: () => session.viewer ?? viewer,
      createContext: (room) => options.createContext(session.viewer ?? viewer, { ...request, room }),
    },
    hold,
    maxAnswerBytes: options.limits.maxAnswerBytes,
    operation,
    extensions: payload.extensions,
    traces: options.traces,
    shared: options.shared,
  };
}

/** A query's or mutation's answer. Never rejects. */
export function run(args: AdmittedArgs): Promise<ExecutionResult> {
  return args.traces.within(operationSpan(args.operation.operation, args.extensions), async (span) => {
    const result = await execution(args);
    tellErrors(span, result.errors ?? []);
    return result;
  });
}

async function execution(args: AdmittedArgs): Promise<ExecutionResult> {
  const { slot, place, asker, schema, operation, hold, maxAnswerBytes: maxBytes } = args;
  const { document, operationName, variableValues } = operation;
  const isMutation = operation.operation.operation === "mutation";
  try {
    place.run(operation.cost);
    const contextValue = asker.createContext(hold);
    const result = await execute({ schema, document, operationName, variableValues, contextValue });
    return boundAnswer(result, { maxBytes, hold, isMutation });
  } catch (failure) {
    return { errors: [wrap(failure)] };
  } finally {
    place.leave();
    slot.free();
  }
}

/** A subscription's answers, or the answer that says why there are none. Never rejects. */
export function subscribe(args: AdmittedArgs): Promise<ResponseStream | ExecutionResult> {
  // Its beginning: a stream goes on for hours.
  return args.traces.within(operationSpan(args.operation.operation, args.extensions), async (span) => {
    const opened = await open(args);
    if (!(opened instanceof ResponseStream)) tellErrors(span, opened.errors ?? []);
    return opened;
  });
}

async function open(args: AdmittedArgs): Promise<ResponseStream | ExecutionResult> {
  const { slot, place, asker, session, schema, operation, shared } = args;
  const { streams } = session;
  const running = shared.enter(operation);
  let stream: ResponseStream | undefined;
  const onEnd = () => {
    slot.free();
    shared.leave(running);
    if (stream) streams.delete(stream);
  };
  try {
    const { document, operationName, variableValues } = operation;
    const execution = { schema, document, operationName, variableValues };
    const answer: StreamParts["answer"] = (event, audience) => running.answer(event, asker, audience);
    const parts = { createContext: () => asker.createContext(), answer, outlet: session.outlet, onEnd };
    const opened = await openResponseStream(execution, parts);
    if (!(opened instanceof ResponseStream)) return opened;
    stream = opened;
    streams.add(stream);
    // Whoever asked has gone while it was being opened.
    if (session.isClosed) await stream.return();
    return stream;
  } catch (failure) {
    return { errors: [wrap(failure)] };
  } finally {
    place.leave();
  }
}

async function subscribeSocket(args: SocketArgs): Promise<FrameStream | ExecutionResult> {
  const opened = await subscribe(args);
  return opened instanceof ResponseStream ? new FrameStream(opened, args.target) : opened;
}

/** Anything thrown as an error that graphql-ws accepts; the mask finds the cause again. */
function wrap(failure: unknown): GraphQLError {
  if (failure instanceof GraphQLError) return failure;
  const originalError = failure instanceof Error ? failure : new Error(String(failure));
  return new GraphQLError(originalError.message, { originalError });
}
