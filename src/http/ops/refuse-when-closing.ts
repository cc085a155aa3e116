/**
 * Refuses requests that arrive on open connections during shutdown, with a GraphQL error that tells clients to retry.
 * Health probes are still served.
 */
import type { FastifyInstance } from "fastify";
import type { ErrorMask } from "../graphql/errors.js";
import { unavailable } from "../graphql/refusals.js";

const PROBES = new Set(["/healthz", "/readyz"]);

/** Applies to all routes added after it. Needs `return503OnClosing: false`: Fastify's own response is not GraphQL. */
export function refuseWhenClosing(
  app: FastifyInstance,
  { isClosing, mask }: { isClosing: () => boolean; mask: ErrorMask },
): void {
  app.addHook("onRequest", async (request, reply) => {
    if (!isClosing() || PROBES.has(request.url)) return;
    const error = unavailable("This server is shutting down; retry, and another one will respond.");
    return reply
      .code(503)
      .header("connection", "close")
      .header("retry-after", "1")
      .send({ errors: [mask(error)] });
  });
}
