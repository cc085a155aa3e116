/**
 * All doors on one port: GraphQL over HTTP and over WebSocket at /graphql, over Server-Sent Events at
 * /graphql/stream, files at /files, beside them the health routes, the pages of tool servers' authorisations and,
 * when on, the GraphiQL page. Everything but the pages, the health routes and signed links to files needs a token, before
 * a body is read.
 */
import { randomUUID } from "node:crypto";
import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { NO_METERS, type RequestMeter } from "../domain/common/meters.js";
import { DatabaseUnavailable } from "../domain/common/outages.js";
import { NO_TRACES, type Traces } from "../domain/common/traces.js";
import { ByteAccounts } from "../lib/streams/byte-accounts.js";
import type { Clock } from "../lib/clock.js";
import { type SpaceCheck, UNWATCHED_SPACE } from "../lib/free-space.js";
import type { Log } from "../lib/log.js";
import { asShown } from "../domain/users/presented-session.js";
import { startApollo } from "./graphql/apollo.js";
import { addAuthRoutes, type SignInDoor } from "./auth/auth-routes.js";
import { browserSessions, noBrowserSessions } from "./auth/browser-session.js";
import { createDocumentGate } from "./graphql/document-gate.js";
import { createErrorMask, type ErrorMask } from "./graphql/errors.js";
import { addFilesRoute, type FilesSource } from "./files/files.js";
import { addUploadsRoute, type UploadsSource } from "./files/uploads.js";
import { addGraphqlRoute } from "./graphql/graphql-route.js";
import { followRequests } from "./ops/traced-requests.js";
import { addHealthRoutes, type HealthReport } from "./ops/health.js";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./graphql/limits.js";
import { createIdentification, type Identification } from "./auth/identification.js";
import { addMcpOauthRoutes, type McpOauthDoorOptions } from "./auth/mcp-oauth.js";
import { measureRequests } from "./ops/measured-requests.js";
import { createOperationSlots } from "./subscriptions/operation-slots.js";
import { refuseWhenClosing } from "./ops/refuse-when-closing.js";
import { countRunningRequests } from "./ops/running-requests.js";
import { guardTokens, limitVisits, OPEN_GATE, type RateGate } from "./common/rate-gate.js";
import type { AnswerEvents } from "./subscriptions/answer.js";
import { SharedOperations } from "./subscriptions/shared-answers.js";
import { RightsRounds } from "./subscriptions/authorization-revalidator.js";
import type { CreateContext } from "./subscriptions/sessions.js";
import { Strangers, watchStrangers } from "./subscriptions/anonymous-connections.js";
import { createStreamDoor, type StreamDoor } from "./subscriptions/sse.js";
import { rememberViewers, type FindViewer } from "./auth/viewer.js";
import { guardWrites } from "./graphql/write-gate.js";
import { takeUpgrades, type UpgradeTaker } from "./common/upgrades.js";
import { UserWork } from "./graphql/user-work.js";
import { createSocketDoor, refuseUpgrade } from "./subscriptions/websocket.js";

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
  /** What is under way to each user, where others count to it too; without it the doors count by themselves. */
  accounts?: ByteAccounts;
  /** How often people and addresses may ask; without it as often as they like. */
  rateGate?: RateGate;
  /** Whether the disk has space for what mutations store; without it that is never asked. */
  space?: SpaceCheck;
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
/** And this long for its head, from the connection's beginning on. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Connections that the system keeps until they are taken; beyond it newcomers wait for a second at least. */
const BACKLOG = 2_048;
/** How often both are looked at. */
const TIMEOUT_CHECK_MS = 2_000;
const REQUEST_ID = /^[\w.-]{1,64}$/;

/** Opens the doors. Rejects when the port cannot be taken; then nothing is left open. */
export async function createHttpServer(options: HttpServerOptions): Promise<ParleyHttp> {
  const { schema, log, clock, isProduction } = options;
  const limits: HttpLimits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const mask = createErrorMask({ log, isProduction });
  const gate = createDocumentGate(schema, limits, isProduction);
  const work = new UserWork(limits, clock);
  const viewers = rememberViewers(options.authenticate, clock);
  const findViewer = viewers.find;
  const rateGate = guardWrites(options.rateGate ?? OPEN_GATE, options.space ?? UNWATCHED_SPACE);
  const traces = options.traces ?? NO_TRACES;
  const checkToken = guardTokens(viewers, rateGate);
  const rounds = new RightsRounds();
  const stopListening = options.onRightsChange?.(() => {
    viewers.forget();
    void rounds.checkAll();
  });
  const { createContext, answerEvents } = options;
  const { maxAnswerBytes } = limits;
  const shared = new SharedOperations({ schema, mask, maxAnswerBytes, answerEvents });
  const accounts = options.accounts ?? new ByteAccounts(limits.maxBytesPerUser);
  const slots = createOperationSlots(limits);
  const { signIn } = options;
  const shownByBrowser = signIn ? browserSessions(signIn) : noBrowserSessions;
  const strangerOptions = { limits, addressOf: rateGate.addressOf, clock, log };
  const strangers = new Strangers(strangerOptions);
  const operations = {
    ...{
      strangers,
      shownByBrowser,
      schema,
      gate,
      work,
      slots,
      findViewer,
      checkToken,
      rateGate,
      traces,
      createContext,
      shared,
      accounts,
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
  const apollo = await startApollo({ schema, gate, rateGate, traces, maxAnswerBytes, mask, log });
  const app = createApp(limits, mask);
  watchStrangers(app, strangers, strangerOptions);
  followRequests(app, traces);
  const running = countRunningRequests(app);
  limitVisits(app, rateGate, ["/auth/", "/mcp/oauth/"]);
  const measured = measureRequests(app, options.meter ?? NO_METERS);
  let closing: Promise<void> | undefined;
  const isClosing = () => closing !== undefined;
  refuseWhenClosing(app, { isClosing, mask });
  addHealthRoutes(app, { health: options.health, log, clock, isClosing });
  const identification = createIdentification({
    ...{ checkToken, shownByBrowser, mask, strangers },
    addressOf: rateGate.addressOf,
  });
  const { maxBodyBytes } = limits;
  const graphql = { apollo, gate, work, identification, accounts, mask, measured, maxBodyBytes };
  addGraphqlRoute(app, { ...graphql, ...options });
  addStreamRoute(app, { streams, identification, maxBodyBytes });
  if (options.files) addFilesRoute(app, { files: options.files, checkToken, rateGate, mask, strangers });
  if (options.uploads) addUploadsRoute(app, { uploads: options.uploads, rateGate, mask, strangers });
  if (options.mcpOauth) addMcpOauthRoutes(app, options.mcpOauth);
  if (signIn) {
    const onLeave = (session: string) => {
      viewers.forget();
      void rounds.checkAll(asShown(session));
    };
    addAuthRoutes(app, { ...signIn, onLeave, log });
  }
  const others = (options.upgradeTakers ?? []).map((taker) => bySelf(taker, strangers));
  takeUpgrades(app, [{ ...sockets, paths: ["/graphql"] }, ...others], (socket) =>
    refuseUpgrade(socket, "404 Not Found"),
  );
  try {
    await app.listen({ host: options.host, port: options.port, backlog: BACKLOG });
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

/** These doors ask for a token at the upgrade, and refuse and bound by themselves. */
function bySelf(taker: UpgradeTaker, strangers: Strangers): UpgradeTaker {
  return {
    ...taker,
    accept(request, socket, head) {
      strangers.forget(socket);
      taker.accept(request, socket, head);
    },
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
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
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

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
