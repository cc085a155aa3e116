/**
 * The HTTP server, with all endpoints on one port: GraphQL over HTTP and WebSocket at /graphql, over Server-Sent Events
 * at /graphql/stream, files at /files, the health routes, the pages for sign-in and for authorizing MCP servers, and
 * optionally GraphiQL. Everything but pages, health routes and signed file links needs a token before a body is read.
 */
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { NO_METERS, type RequestMeter } from "../domain/common/meters.js";
import { DatabaseUnavailable } from "../domain/common/outages.js";
import { NO_TRACES, type Traces } from "../domain/common/traces.js";
import { ByteBudget } from "../lib/streams/byte-budget.js";
import type { Clock } from "../lib/clock.js";
import { type SpaceCheck, UNMONITORED_SPACE } from "../lib/free-space.js";
import type { Log } from "../lib/log.js";
import { presentSession } from "../domain/users/presented-session.js";
import { startApollo } from "./graphql/apollo.js";
import { addAuthRoutes, type SignInOptions } from "./auth/auth-routes.js";
import { browserSessions, noBrowserSessions } from "./auth/browser-session.js";
import { createDocumentGate } from "./graphql/document-gate.js";
import { createErrorMask, type ErrorMask } from "./graphql/errors.js";
import { addFilesRoute, type FilesSource } from "./files/files.js";
import { addUploadsRoute, type UploadsSource } from "./files/uploads.js";
import { addGraphqlRoute } from "./graphql/graphql-route.js";
import { traceRequests } from "./ops/traced-requests.js";
import { addHealthRoutes, type HealthReport } from "./ops/health.js";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./graphql/limits.js";
import { createAuthentication, type Authentication } from "./auth/authentication.js";
import { addMcpOauthRoutes, type McpOauthRoutesOptions } from "./auth/mcp-oauth.js";
import { measureRequests } from "./ops/measured-requests.js";
import { createOperationSlots } from "./subscriptions/operation-slots.js";
import { refuseWhenClosing } from "./ops/refuse-when-closing.js";
import { countRunningRequests, type RunningRequests } from "./ops/running-requests.js";
import { guardTokens, limitVisits, OPEN_GATE, type RateGate } from "./common/rate-gate.js";
import type { CreateEventExecutor } from "./subscriptions/event-result.js";
import { SharedOperations } from "./subscriptions/shared-results.js";
import { AuthorizationRevalidator } from "./subscriptions/authorization-revalidator.js";
import type { CreateContext } from "./subscriptions/sessions.js";
import { AnonymousConnections, limitAnonymousConnections } from "./subscriptions/anonymous-connections.js";
import { createSseTransport, type SseTransport } from "./subscriptions/sse.js";
import { cacheViewers, type FindViewer } from "./auth/viewer.js";
import { guardWrites } from "./graphql/write-gate.js";
import { routeUpgrades, type UpgradeHandler } from "./common/upgrades.js";
import { UserAdmission } from "./graphql/user-admission.js";
import { createWebSocketTransport, refuseUpgrade } from "./subscriptions/websocket.js";

export type HttpServerOptions = {
  host: string;
  /** 0 = any free port. */
  port: number;
  /** How many ports after a taken one are tried; default: none. */
  furtherPorts?: number;
  /** Requests wait for it; absent = they are served at once. */
  ready?: Promise<unknown>;
  schema: GraphQLSchema;
  /** The viewer of a token; null when unknown, revoked or expired. Results are cached for VIEWER_CACHE_MS. */
  authenticate: FindViewer;
  /** Subscribes to changes of permissions; the returned function unsubscribes. Without it they are only revalidated periodically. */
  onRightsChange?: (listener: () => void) => () => void;
  /** Creates a fresh, plain object for each operation and for each event of a subscription. */
  createContext: CreateContext;
  /** Adds shortcuts for a subscription's frequent events; without it every event is executed in full. */
  createEventExecutor?: CreateEventExecutor;
  health: () => Promise<HealthReport>;
  /** Source of `GET /files/<id>`; without it the route does not exist. */
  files?: FilesSource;
  /** Target of `PUT /files/<id>`; without it the route does not exist. */
  uploads?: UploadsSource;
  meter?: RequestMeter;
  log: Log;
  clock: Clock;
  isGraphiqlOn: boolean;
  /** In production errors do not suggest names of the schema. */
  isProduction: boolean;
  limits?: Partial<HttpLimits>;
  /** Bytes in flight per user, shared with other components; without it the server counts its own. */
  byteBudget?: ByteBudget;
  /** Rate limits of users and addresses; without it there are none. */
  rateGate?: RateGate;
  /** Whether the disk has space for what mutations store; without it that is not checked. */
  space?: SpaceCheck;
  /** Tracing of requests and operations; without it there is none. */
  traces?: Traces;
  /** Pages where users connect their accounts with MCP servers; without it they do not exist. */
  mcpOauth?: McpOauthRoutesOptions;
  /** Browser sign-in; without it the routes do not exist, and cookies are ignored. */
  signIn?: SignInOptions;
  /** Handlers for other upgraded connections; closed with the server. */
  upgradeHandlers?: readonly UpgradeHandler[];
};

export type ParleyHttp = {
  /** Base URL of the server, without a path: `http://127.0.0.1:4000`. */
  url: string;
  port: number;
  /** Open sockets, and the operations that run on them and on event streams. */
  count(): { sockets: number; operations: number };
  /**
   * Refuses new requests, drains sockets and event streams (at most 5 s), waits for running requests (at most 10 s), then
   * terminates them. Idempotent.
   */
  close(): Promise<void>;
};

/** Requests still running this long after the start of the shutdown are terminated. */
const DRAIN_LIMIT_MS = 10_000;
/** Time limit for receiving a whole request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Time limit for receiving a request's head, from the start of the connection. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Connections that the kernel queues until they are accepted; beyond it clients retry after at least a second. */
const BACKLOG = 2_048;
const MAX_PORT = 65_535;
/** How often both limits are checked. */
const TIMEOUT_CHECK_MS = 2_000;
const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Opens the server. Rejects when the port cannot be bound; then nothing is left open. */
export async function createHttpServer(options: HttpServerOptions): Promise<ParleyHttp> {
  const components = createComponents(options);
  const { log, limits, mask, gate, rateGate, traces, anonymous, slots, sockets, streams } = components;
  const { maxResponseBytes } = limits;
  const { schema } = options;
  const apollo = await startApollo({ schema, gate, rateGate, traces, maxResponseBytes, mask, log });
  const app = createApp(limits, mask);
  let closing: Promise<void> | undefined;
  const running = addHooksAndRoutes(app, options, components, {
    apollo,
    isClosing: () => closing !== undefined,
  });
  const others = (options.upgradeHandlers ?? []).map((handler) => selfBounded(handler, anonymous));
  routeUpgrades(
    app,
    [{ paths: ["/graphql"], accept: sockets.accept, close: sockets.close }, ...others],
    (socket) => refuseUpgrade(socket, "404 Not Found"),
  );
  try {
    await listen(app, options);
  } catch (failure) {
    await apollo.stop();
    throw failure;
  }
  const address = app.server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  const end = async () => {
    const terminate = () => app.server.closeAllConnections();
    const cancel = options.clock.after(DRAIN_LIMIT_MS, terminate);
    // Idle connections would delay the end until its limit.
    const completed = running.end().then(terminate);
    // Refuses new requests at once; ends when sockets and streams are closed and running requests have ended.
    const closings = [sockets, streams, ...others].map((transport) => transport.close());
    await Promise.all([app.close(), ...closings, completed]);
    cancel();
    components.stopListening?.();
    await apollo.stop();
  };
  return {
    url: `http://${hostInUrl(options.host)}:${port}`,
    port,
    count: () => ({ sockets: sockets.count(), operations: slots.count() }),
    close: () => (closing ??= end()),
  };
}

async function listen(
  app: FastifyInstance,
  { host, port, furtherPorts = 0 }: HttpServerOptions,
): Promise<void> {
  for (let candidate = port; ; candidate += 1) {
    try {
      await app.listen({ host, port: candidate, backlog: BACKLOG });
      return;
    } catch (failure) {
      const isTaken = failure instanceof Error && "code" in failure && failure.code === "EADDRINUSE";
      if (!isTaken || candidate === Math.min(port + furtherPorts, MAX_PORT)) throw failure;
    }
  }
}

type Components = ReturnType<typeof createComponents>;

/** Creates everything that the transports and routes share. */
function createComponents(options: HttpServerOptions) {
  const { schema, log, clock, isProduction, createContext, createEventExecutor, signIn } = options;
  const limits: HttpLimits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const mask = createErrorMask({ log, isProduction });
  const { ready } = options;
  const authenticate: FindViewer =
    ready === undefined
      ? options.authenticate
      : async (token) => ready.then(() => options.authenticate(token));
  const viewers = cacheViewers(authenticate, clock);
  const rateGate = guardWrites(options.rateGate ?? OPEN_GATE, options.space ?? UNMONITORED_SPACE);
  const revalidator = new AuthorizationRevalidator();
  const stopListening = options.onRightsChange?.(() => {
    viewers.clear();
    void revalidator.checkAll();
  });
  const { maxResponseBytes } = limits;
  const anonymousOptions = { limits, addressOf: rateGate.addressOf, clock, log };
  const operations = {
    ...{ schema, log, clock, limits, mask, rateGate, revalidator, createContext },
    anonymous: new AnonymousConnections(anonymousOptions),
    readBrowserSession: signIn ? browserSessions(signIn) : noBrowserSessions,
    gate: createDocumentGate(schema, limits, isProduction),
    admission: new UserAdmission(limits, clock),
    slots: createOperationSlots(limits),
    findViewer: viewers.find,
    checkToken: guardTokens(viewers, rateGate),
    traces: options.traces ?? NO_TRACES,
    shared: new SharedOperations({ schema, mask, maxResponseBytes, createEventExecutor }),
    byteBudget: options.byteBudget ?? new ByteBudget(limits.maxBytesPerUser),
    createRequestId: randomUUID,
  };
  const sockets = createWebSocketTransport(operations);
  const streams = createSseTransport(operations);
  return { ...operations, anonymousOptions, viewers, sockets, streams, stopListening };
}

type Lifecycle = { apollo: Awaited<ReturnType<typeof startApollo>>; isClosing: () => boolean };

/** Adds hooks and routes in the order in which they must run. Returns the counter of running requests. */
function addHooksAndRoutes(
  app: FastifyInstance,
  options: HttpServerOptions,
  components: Components,
  { apollo, isClosing }: Lifecycle,
): RunningRequests {
  const { log, clock, signIn } = options;
  const { anonymous, limits, mask, rateGate, checkToken, readBrowserSession } = components;
  const { ready } = options;
  if (ready !== undefined) app.addHook("onRequest", async () => void (await ready));
  limitAnonymousConnections(app, anonymous, components.anonymousOptions);
  traceRequests(app, components.traces);
  const running = countRunningRequests(app);
  limitVisits(app, rateGate, ["/auth/", "/mcp/oauth/"]);
  const measured = measureRequests(app, options.meter ?? NO_METERS);
  refuseWhenClosing(app, { isClosing, mask });
  addHealthRoutes(app, { health: options.health, log, clock, isClosing });
  const authentication = createAuthentication({
    ...{ checkToken, readBrowserSession, mask, anonymous },
    addressOf: rateGate.addressOf,
  });
  const { maxBodyBytes } = limits;
  const { gate, admission, byteBudget } = components;
  const graphql = { apollo, gate, admission, authentication, byteBudget, mask, measured, maxBodyBytes };
  addGraphqlRoute(app, { ...options, ...graphql });
  addStreamRoute(app, { streams: components.streams, authentication, maxBodyBytes });
  if (options.files) addFilesRoute(app, { files: options.files, checkToken, rateGate, mask, anonymous });
  if (options.uploads) addUploadsRoute(app, { uploads: options.uploads, rateGate, mask, anonymous });
  if (options.mcpOauth) addMcpOauthRoutes(app, options.mcpOauth);
  if (signIn) {
    const onSignOut = (session: string) => {
      components.viewers.clear();
      void components.revalidator.checkAll(presentSession(session));
    };
    addAuthRoutes(app, { ...signIn, onSignOut, log });
  }
  return running;
}

/** Handlers that authenticate and bound their connections themselves. */
function selfBounded(handler: UpgradeHandler, anonymous: AnonymousConnections): UpgradeHandler {
  return {
    paths: handler.paths,
    accept(request, socket, head) {
      anonymous.remove(socket);
      handler.accept(request, socket, head);
    },
    close: () => handler.close(),
  };
}

function createApp(limits: HttpLimits, mask: ErrorMask): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: limits.maxOtherBodyBytes,
    // Free-form JSON may have any key; nothing here copies keys into prototypes.
    onProtoPoisoning: "ignore",
    onConstructorPoisoning: "ignore",
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    genReqId: (request) => {
      const id = request.headers["x-request-id"];
      return typeof id === "string" && REQUEST_ID.test(id) ? id : randomUUID();
    },
  });
  app.addHook("onSend", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.setNotFoundHandler((_request, reply) => {
    const error = new GraphQLError("Not found. The GraphQL endpoint is /graphql.", {
      extensions: { code: "NOT_FOUND" },
    });
    return reply.code(404).send({ errors: [mask(error)] });
  });
  app.setErrorHandler((failure: FastifyError, request, reply) => {
    if (failure instanceof DatabaseUnavailable) {
      return reply
        .code(503)
        .header("retry-after", "1")
        .send({ errors: [mask(failure)] });
    }
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

type StreamRouteOptions = { streams: SseTransport; authentication: Authentication; maxBodyBytes: number };

function addStreamRoute(
  app: FastifyInstance,
  { streams, authentication, maxBodyBytes }: StreamRouteOptions,
): void {
  app.route({
    url: "/graphql/stream",
    method: ["GET", "POST"],
    bodyLimit: maxBodyBytes,
    // HEAD makes no sense for a stream.
    exposeHeadRoute: false,
    onRequest: (request, reply) => authentication.authenticate(request, reply),
    handler: (request, reply) => streams.respond(request, reply, authentication.credentialsOf(request)),
  });
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
