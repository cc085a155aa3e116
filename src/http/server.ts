/**
 * All doors on one port: GraphQL over HTTP and over WebSocket at /graphql, over Server-Sent Events at
 * /graphql/stream, files at /files, beside them the health routes, the pages of tool servers' authorisations and,
 * when on, the GraphiQL page. Everything but the pages, the health routes and signed links to files needs a token, before
 * a body is read.
 */
import { randomUUID } from "node:crypto";
import { fastifyApolloHandler } from "@as-integrations/fastify";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from "fastify";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { NO_METERS, type RequestMeter } from "../domain/meters.js";
import { NO_TRACES, type Traces } from "../domain/traces.js";
import type { Clock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import { asShown } from "../domain/shown-session.js";
import { startApollo } from "./apollo.js";
import { addAuthRoutes, type SignInDoor } from "./auth-routes.js";
import { browserSessions, noBrowserSessions } from "./browser-session.js";
import { createDocumentGate, type DocumentGate } from "./document-gate.js";
import { createErrorMask, type ErrorMask } from "./errors.js";
import { addFilesRoute, type FilesSource } from "./files.js";
import { addUploadsRoute, type UploadsSource } from "./uploads.js";
import { createGraphiqlPage, wantsGraphiql } from "./graphiql.js";
import { followRequests } from "./followed-requests.js";
import { addHealthRoutes, type HealthReport } from "./health.js";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./limits.js";
import { createIdentification, type Identification } from "./identification.js";
import { addMcpOauthRoutes, type McpOauthDoorOptions } from "./mcp-oauth.js";
import { measureRequests, type MeasuredRequests } from "./measured-requests.js";
import { createOperationSlots } from "./operation-slots.js";
import { refuseWhenClosing } from "./refuse-when-closing.js";
import { countRunningRequests } from "./running-requests.js";
import { guardTokens, limitVisits, OPEN_GATE, withAddress, type RateGate } from "./rate-gate.js";
import type { AnswerEvents } from "./answer.js";
import { SharedOperations } from "./shared-answers.js";
import { RightsRounds } from "./rights-rounds.js";
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
  /** Calls back when somebody's rights may have changed; the returned function ends that. Without it they are looked at by time alone. */
  onRightsChange?: (listener: () => void) => () => void;
  /** A fresh, plain object for each operation and for each event of a subscription. */
  createContext: CreateContext;
  /** Shortcuts for a subscription's most frequent events; without it every event is executed. */
  answerEvents?: AnswerEvents;
  health: () => Promise<HealthReport>;
  /** What `GET /files/<id>` sends; without it there is no such door. */
  files?: FilesSource;
  /** What `PUT /files/<id>` takes; without it there is no such door. */
  uploads?: UploadsSource;
  meter?: RequestMeter;
  log: Log;
  clock: Clock;
  isGraphiqlOn: boolean;
  /** In production errors do not suggest names of the schema. */
  isProduction: boolean;
  limits?: Partial<HttpLimits>;
  /** How often people and addresses may ask; without it as often as they like. */
  rateGate?: RateGate;
  /** Who follows requests and operations; without it nobody. */
  traces?: Traces;
  /** Where people connect their accounts with tool servers; without it there are no such pages. */
  mcpOauth?: McpOauthDoorOptions;
  /** Where browsers sign in; without it there is no such place, and no cookie counts. */
  signIn?: SignInDoor;
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
  const viewers = rememberViewers(options.authenticate, clock);
  const findViewer = viewers.find;
  const rateGate = options.rateGate ?? OPEN_GATE;
  const traces = options.traces ?? NO_TRACES;
  const checkToken = guardTokens(viewers, rateGate);
  const rounds = new RightsRounds();
  const stopListening = options.onRightsChange?.(() => {
    viewers.forget();
    void rounds.checkAll();
  });
  const { createContext, answerEvents } = options;
  const shared = new SharedOperations({ schema, mask, answerEvents });
  const slots = createOperationSlots(limits);
  const { signIn } = options;
  const shownByBrowser = signIn ? browserSessions(signIn) : noBrowserSessions;
  const operations = {
    ...{
      shownByBrowser,
      schema,
      gate,
      slots,
      findViewer,
      checkToken,
      rateGate,
      traces,
      createContext,
      shared,
      mask,
      log,
      clock,
      limits,
      rounds,
    },
    createRequestId: randomUUID,
  };
  const sockets = createSocketDoor(operations);
  const streams = createStreamDoor(operations);
  const apollo = await startApollo({ schema, gate, rateGate, traces, mask, log });
  const app = createApp(limits, mask);
  followRequests(app, traces);
  const running = countRunningRequests(app);
  limitVisits(app, rateGate, ["/auth/", "/mcp/oauth/"]);
  const measured = measureRequests(app, options.meter ?? NO_METERS);
  let closing: Promise<void> | undefined;
  const isClosing = () => closing !== undefined;
  refuseWhenClosing(app, { isClosing, mask });
  addHealthRoutes(app, { health: options.health, log, clock, isClosing });
  const identification = createIdentification({
    ...{ checkToken, shownByBrowser, mask },
    addressOf: rateGate.addressOf,
  });
  const { maxBodyBytes } = limits;
  addGraphqlRoute(app, { apollo, gate, identification, mask, measured, maxBodyBytes, ...options });
  addStreamRoute(app, { streams, identification, maxBodyBytes });
  if (options.files) addFilesRoute(app, { files: options.files, checkToken, rateGate, mask });
  if (options.uploads) addUploadsRoute(app, { uploads: options.uploads, rateGate, mask });
  if (options.mcpOauth) addMcpOauthRoutes(app, options.mcpOauth);
  if (signIn) {
    const onLeave = (session: string) => {
      viewers.forget();
      void rounds.checkAll(asShown(session));
    };
    addAuthRoutes(app, { ...signIn, onLeave, log });
  }
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
    stopListening?.();
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
    bodyLimit: limits.maxOtherBodyBytes,
    // JSON whose shape belongs to someone else may have any key; nothing here copies keys into prototypes.
    onProtoPoisoning: "ignore",
    onConstructorPoisoning: "ignore",
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
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
  app.setErrorHandler((failure: FastifyError, request, reply) => {
    const status = failure.statusCode ?? 500;
    if (status >= 500) return reply.code(500).send({ errors: [mask(failure)] });
    const message =
      status === 413
        ? `The request body is larger than ${request.routeOptions.bodyLimit} bytes.`
        : failure.message;
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
  measured: MeasuredRequests;
  maxBodyBytes: number;
};

function addGraphqlRoute(app: FastifyInstance, options: GraphqlRouteOptions): void {
  const { apollo, gate, identification, mask, measured, createContext } = options;
  const sendPage = createGraphiqlPage();
  app.route({
    url: "/graphql",
    method: ["GET", "POST"],
    bodyLimit: options.maxBodyBytes,
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
      context: async (request) => {
        const { viewer, address } = identification.of(request);
        return measured.of(request, withAddress(createContext(viewer, { requestId: request.id }), address));
      },
    }),
  });
}

type StreamRouteOptions = { streams: StreamDoor; identification: Identification; maxBodyBytes: number };

function addStreamRoute(
  app: FastifyInstance,
  { streams, identification, maxBodyBytes }: StreamRouteOptions,
): void {
  app.route({
    url: "/graphql/stream",
    method: ["GET", "POST"],
    bodyLimit: maxBodyBytes,
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
