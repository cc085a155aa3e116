/** The agent's HTTP server: checks the token and maps failures to statuses. The routes are in `routes/`. */
import { createHash, timingSafeEqual } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { systemClock } from "../lib/clock.js";
import type { Log } from "../lib/log.js";
import type { Agent } from "./agent.js";
import { addMetrics } from "./metrics.js";
import { errorText, refused, type Refusal } from "./outcome.js";
import { AGENT_PATHS } from "./protocol/paths.js";
import { CHAT_ID_HEADER, MAX_BODY_BYTES } from "./protocol/requests.js";
import { addContextRoutes } from "./routes/context.js";
import { addFileRoutes } from "./routes/files.js";
import { gitWatchHandler } from "./routes/git.js";
import { addMcpRoutes } from "./routes/mcp.js";
import { addProcessStreamRoute } from "./routes/process-stream.js";
import { addProcessRoutes } from "./routes/processes.js";
import { addSearchRoutes } from "./routes/search.js";
import { refuse, RefusedRequest } from "./routes/requests.js";
import { controlChannelHandler } from "./routes/control-channel.js";
import { addUpgrades } from "./routes/upgrades.js";

/** For a client to send its whole request. Responses may take longer; waits have their own limits. */
const REQUEST_TIMEOUT_MS = 60_000;

export type AgentServerOptions = {
  agent: Agent;
  /** The bearer token that clients must present. */
  token: string;
  /** PEM texts; absent: plain HTTP. Throws when they are no certificate and its key. */
  tls?: { cert: string; key: string } | null;
  log: Log;
};

/** An HTTP server for `agent` that is not listening yet. Closing it does not close the agent. */
export function createAgentServer({ agent, token, tls, log }: AgentServerOptions): FastifyInstance {
  const server = createFastify(tls ?? null);
  // Only JSON is accepted; anything else gets a 415.
  server.removeContentTypeParser("text/plain");
  const isAuthorized = tokenCheck(token);
  addUpgrades(server, {
    isAuthorized,
    handlers: {
      [AGENT_PATHS.gitWatch]: gitWatchHandler({ agent, clock: systemClock, log }),
      [AGENT_PATHS.controlChannel]: controlChannelHandler({
        controlChannels: agent.controlChannels,
        clock: systemClock,
        log,
      }),
    },
  });
  server.addHook("onRequest", async (request, reply) => {
    if (isAuthorized(request.headers.authorization)) return undefined;
    return refuse(reply, refused(401, "A valid bearer token is required."));
  });
  addAccessLog(server, log);
  addMetrics(server, agent.metrics);
  server.setNotFoundHandler((request, reply) =>
    refuse(reply, refused(404, `There is nothing at ${request.method} ${request.url}.`)),
  );
  server.setErrorHandler((error, request, reply) => refuse(reply, refusalOf(error, request, log)));
  addProcessRoutes(server, agent);
  addProcessStreamRoute(server, agent);
  addFileRoutes(server, agent);
  addSearchRoutes(server, agent);
  addContextRoutes(server, agent);
  addMcpRoutes(server, agent);
  server.get(AGENT_PATHS.health, () => agent.health());
  return server;
}

/** Routes check their requests with zod and declare no schemas. Without this, Fastify loads Ajv and more at every start. */
function noSchemas(): never {
  throw new Error("Routes of the agent have no Fastify schemas.");
}

function createFastify(tls: { cert: string; key: string } | null): FastifyInstance {
  const options = {
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
  } as const;
  // Fastify's types distinguish the two kinds of server; the routes are the same for both.
  return tls === null
    ? Fastify(options)
    : (Fastify({ ...options, https: tls }) as unknown as FastifyInstance);
}

/** Logs the path without the query, which may contain the user's text. */
function addAccessLog(server: FastifyInstance, log: Log): void {
  server.addHook("onResponse", (request, reply, done) => {
    const path = request.url.split("?", 1)[0];
    const chatId = request.headers[CHAT_ID_HEADER];
    const { method } = request;
    const facts = { method, path, status: reply.statusCode, elapsedMs: Math.round(reply.elapsedTime) };
    log.debug({ ...facts, chatId }, "request completed");
    done();
  });
}

/** Compares digests of equal length in constant time. */
function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (authorization) => timingSafeEqual(digest(authorization ?? ""), expected);
}

function refusalOf(error: unknown, request: FastifyRequest, log: Log): Refusal {
  if (error instanceof RefusedRequest) return error.refusal;
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return refused(status, errorText(error));
  log.error({ err: error, method: request.method, url: request.url }, "request failed");
  return refused(500, "The workspace agent failed.", { detail: errorText(error) });
}
