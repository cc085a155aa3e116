/**
 * All doors on one port: GraphQL over HTTP and over WebSocket at /graphql, over Server-Sent Events at
 * /graphql/stream, beside them the health routes and, when on, the GraphiQL page. Everything but the page and the health routes needs a token, before a body is read.
 */
import { randomUUID } from "node:crypto";
import { fastifyApolloHandler } from "@as-integrations/fastify";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from "fastify";
import { GraphQLError, type GraphQLSchema } from "graphql";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { startApollo } from "./apollo.js";
import { createDocumentGate, type DocumentGate } from "./document-gate.js";
import { createErrorMask, type ErrorMask } from "./errors.js";
import { createGraphiqlPage, wantsGraphiql } from "./graphiql.js";
import { addHealthRoutes, type HealthReport } from "./health.js";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./limits.js";
import { createIdentification, type Identification } from "./identification.js";
import { createOperationSlots } from "./operation-slots.js";
import { countRunningRequests } from "./running-requests.js";
import type { AnswerEvents } from "./answer.js";
import { SharedOperations } from "./shared-answers.js";
import type { CreateContext } from "./sessions.js";
import { createStreamDoor, type StreamDoor } from "./sse.js";
import { rememberViewers, type FindViewer } from "./viewer.js";
import { takeUpgrades, type UpgradeTaker } from "./upgrades.js";
import { createSocketDoor, refuseUpgrade } from "./websocket.js";

export type HttpServerOptions = {
  host: string;
  /** 0 takes any free port. */
  port: number;
  schema: GraphQLSchema;
  /** The viewer of a token; null when unknown, revoked or expired. Answers are kept for VIEWER_CACHE_MS. */
  authenticate: FindViewer;
  /** A fresh, plain object for each operation and for each event of a subscription. */
  createContext: CreateContext;
  /** Shortcuts for a subscription's most frequent events; without it every event is executed. */
  answerEvents?: AnswerEvents;
  health: () => Promise<HealthReport>;
  log: Log;
  clock: Clock;
  isGraphiqlOn: boolean;
  /** In production errors do not suggest names of the schema. */
  isProduction: boolean;
  limits?: Partial<HttpLimits>;
  /** Other doors for connections that are no HTTP; closed with this one. */
  upgradeTakers?: readonly UpgradeTaker[];
};

export type ParleyHttp = {
  /** Where to reach the server, without a path: `http://127.0.0.1:4000`. */
  url: string;
  port: number;
  /** Open sockets, and the operations that run on them and on event streams. */
  count(): { sockets: number; operations: number };
  /**
   * Takes nothing new, sends sockets and event streams away (at most 5 s), lets running requests end (at most 10 s), then cuts.
   * Safe to call twice.
   */
  close(): Promise<void>;
};

/** Requests that still run this long after the end has begun are cut. */
const DRAIN_LIMIT_MS = 10_000;
/** A client has this long to send a whole request. */
const REQUEST_TIMEOUT_MS = 30_000;
const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Opens the doors. Rejects when the port cannot be taken; then nothing is left open. */
export async function createHttpServer(options: HttpServerOptions): Promise<ParleyHttp> {
  const { schema, log, clock, isProduction } = options;
  const limits: HttpLimits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const mask = createErrorMask({ log, isProduction });
  const gate = createDocumentGate(schema, limits);
  const findViewer = rememberViewers(options.authenticate, clock);
  const { createContext, answerEvents } = options;
  const shared = new SharedOperations({ schema, mask, answerEvents });
  const slots = createOperationSlots(limits);
  const operations = {
    ...{ schema, gate, slots, findViewer, createContext, shared, mask, log, clock, limits },
    createRequestId: randomUUID,
  };
  const sockets = createSocketDoor(operations);
  const streams = createStreamDoor(operations);
  const apollo = await startApollo({ schema, gate, mask, log });
  const app = createApp(limits, mask);
  const running = countRunningRequests(app);
  let closing: Promise<void> | undefined;
  addHealthRoutes(app, { health: options.health, log, clock, isClosing: () => closing !== undefined });
  const identification = createIdentification(findViewer, mask);
  addGraphqlRoute(app, { apollo, gate, identification, mask, ...options });
  addStreamRoute(app, streams, identification);
  const others = options.upgradeTakers ?? [];
  takeUpgrades(app, [{ ...sockets, paths: ["/graphql"] }, ...others], (socket) =>
    refuseUpgrade(socket, "404 Not Found"),
  );
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (failure) {
    await apollo.stop();
    throw failure;
  }
  const address = app.server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  const end = async () => {
    const cut = () => app.server.closeAllConnections();
    const cancel = clock.after(DRAIN_LIMIT_MS, cut);
    // Connections that are open without a request would hold the end up until its limit.
    const answered = running.end().then(cut);
    // Starts to refuse at once; ends when sockets and streams have gone and running requests are answered.
    const closings = [sockets, streams, ...others].map((door) => door.close());
    await Promise.all([app.close(), ...closings, answered]);
    cancel();
    await apollo.stop();
  };
  return {
    url: `http://${hostInUrl(options.host)}:${port}`,
    port,
    count: () => ({ sockets: sockets.count(), operations: slots.count() }),
    close: () => (closing ??= end()),
  };
}

function createApp(limits: HttpLimits, mask: ErrorMask): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: "idle",
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      return typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
    },
  });
  app.addHook("onSend", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.setNotFoundHandler((_request, reply) => {
    const error = new GraphQLError("There is nothing here; GraphQL is at /graphql.", {
      extensions: { code: "NOT_FOUND" },
    });
    return reply.code(404).send({ errors: [mask(error)] });
  });
  app.setErrorHandler((failure: FastifyError, _request, reply) => {
    const status = failure.statusCode ?? 500;
    if (status >= 500) return reply.code(500).send({ errors: [mask(failure)] });
    const message =
      status === 413 ? `The request body is larger than ${limits.maxBodyBytes} bytes.` : failure.message;
    const error = new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } });
    return reply.code(status).send({ errors: [mask(error)] });
  });
  return app;
}

type GraphqlRouteOptions = Pick<HttpServerOptions, "createContext" | "isGraphiqlOn"> & {
  apollo: Awaited<ReturnType<typeof startApollo>>;
  gate: DocumentGate;
  identification: Identification;
  mask: ErrorMask;
};

function addGraphqlRoute(app: FastifyInstance, options: GraphqlRouteOptions): void {
  const { apollo, gate, identification, mask, createContext } = options;
  const sendPage = createGraphiqlPage();
  app.route({
    url: "/graphql",
    method: ["GET", "POST"],
    onRequest: async (request, reply) => {
      if (options.isGraphiqlOn && wantsGraphiql(request)) return sendPage(request, reply);
      return identification.demand(request, reply);
    },
    preHandler: async (request, reply) => {
      const query = readQuery(request);
      const refusal = query === undefined ? undefined : gate.refuseText(query);
      return refusal && reply.code(400).send({ errors: [mask(refusal)] });
    },
    handler: fastifyApolloHandler(apollo, {
      context: async (request) => createContext(identification.of(request).viewer, { requestId: request.id }),
    }),
  });
}

function addStreamRoute(app: FastifyInstance, streams: StreamDoor, identification: Identification): void {
  app.route({
    url: "/graphql/stream",
    method: ["GET", "POST"],
    // There is no stream without a body.
    exposeHeadRoute: false,
    onRequest: (request, reply) => identification.demand(request, reply),
    handler: (request, reply) => streams.answer(request, reply, identification.of(request)),
  });
}

function readQuery(request: FastifyRequest): string | undefined {
  const holder: unknown = request.method === "GET" ? request.query : request.body;
  if (typeof holder !== "object" || holder === null || !("query" in holder)) return undefined;
  return typeof holder.query === "string" ? holder.query : undefined;
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
