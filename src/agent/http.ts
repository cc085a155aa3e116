/** The agent's HTTP door: checks the token, turns failures into statuses. What it answers is in `routes/`. */
import { createHash, timingSafeEqual } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { Log } from "../lib/log.js";
import type { Agent } from "./agent.js";
import { errorText, refused, type Refusal } from "./outcome.js";
import { AGENT_PATHS, MAX_BODY_BYTES } from "./protocol.js";
import { addContextRoutes } from "./routes/context.js";
import { addFileRoutes } from "./routes/files.js";
import { addProcessRoutes } from "./routes/processes.js";
import { refuse, RefusedRequest } from "./routes/requests.js";

/** Time to send a whole request; answers may take as long as they need, waits have their own limit. */
const REQUEST_TIMEOUT_MS = 60_000;

/** An HTTP server for `agent` that is not listening yet. Closing it does not close the agent. */
export function createAgentServer(options: { agent: Agent; token: string; log: Log }): FastifyInstance {
  const { agent, token, log } = options;
  const server = Fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
  });
  // JSON is all that is spoken here; without it anything else gets a 415.
  server.removeContentTypeParser("text/plain");
  const isToken = tokenCheck(token);
  server.addHook("onRequest", async (request, reply) => {
    if (isToken(request.headers.authorization)) return undefined;
    return refuse(reply, refused(401, "A valid bearer token is required."));
  });
  server.setNotFoundHandler((request, reply) =>
    refuse(reply, refused(404, `There is nothing at ${request.method} ${request.url}.`)),
  );
  server.setErrorHandler((error, request, reply) => refuse(reply, refusalOf(error, request, log)));
  addProcessRoutes(server, agent);
  addFileRoutes(server, agent);
  addContextRoutes(server, agent);
  server.get(AGENT_PATHS.health, () => agent.health());
  return server;
}

/** Compares digests, which are equally long, so that the time taken tells nothing about the token. */
function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (authorization) => timingSafeEqual(digest(authorization ?? ""), expected);
}

function refusalOf(error: unknown, request: FastifyRequest, log: Log): Refusal {
  if (error instanceof RefusedRequest) return error.refusal;
  const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return refused(status, errorText(error));
  log.error({ err: error, method: request.method, url: request.url }, "A request failed");
  return refused(500, "The workspace agent failed.", { detail: errorText(error) });
}
