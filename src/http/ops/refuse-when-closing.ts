/**
 * Requests that arrive on open connections while the server shuts down. They are refused as GraphQL has it, so that a
 * client knows to come back; probes go on hearing how the server is.
 */
import type { FastifyInstance } from "fastify";
import type { ErrorMask } from "../graphql/errors.js";
import { unavailable } from "../graphql/refusals.js";

const PROBES = new Set(["/healthz", "/readyz"]);

/** For all routes that are added after it. Needs `return503OnClosing: false`: Fastify's own answer is no GraphQL. */
export function refuseWhenClosing(
  app: FastifyInstance,
  { isClosing, mask }: { isClosing: () => boolean; mask: ErrorMask },
): void {
  app.addHook("onRequest", async (request, reply) => {
    if (!isClosing() || PROBES.has(request.url)) return;
    const error = unavailable("This server is shutting down. Come back: another one takes you.");
    return reply
      .code(503)
      .header("connection", "close")
      .header("retry-after", "1")
      .send({ errors: [mask(error)] });
  });
}
