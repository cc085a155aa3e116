/**
 * From a request's head on, everything that is done for it is known to be: log lines carry its id, and its spans are parts
 * of one. Health checks and their like are not followed, as nobody would look for them.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { NO_SPAN, type OpenSpan, type Traces } from "../../domain/common/traces.js";
import { runWithContext } from "../../lib/run-context.js";

const FOLLOWED = /^\/(?:graphql|files|auth|mcp)(?:\/|$)/;
/** Goes on for hours once it has begun: what takes time is the beginning. */
const STREAM_ROUTE = "/graphql/stream";

/** Call it before any other hook is added, so that those are part of it. */
export function followRequests(app: FastifyInstance, traces: Traces): void {
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook("onRequest", (request, reply, done) => {
    const span = openSpan(request, traces);
    const { trace, traceId } = span;
    spans.set(request, span);
    reply.raw.once("close", () => endSpan(span, reply.statusCode));
    runWithContext({ requestId: request.id, trace, traceId }, done);
  });
  app.addHook("onSend", async (request, reply) => {
    const span = spans.get(request);
    if (span && request.routeOptions.url === STREAM_ROUTE) endSpan(span, reply.statusCode);
  });
}

function openSpan({ method, headers, id, routeOptions }: FastifyRequest, traces: Traces): OpenSpan {
  const { url: route } = routeOptions;
  if (route === undefined || !FOLLOWED.test(route)) return NO_SPAN;
  const traceparent = headers["traceparent"];
  return traces.open({
    name: `${method} ${route}`,
    kind: "server",
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
    facts: { "http.request.method": method, "http.route": route, "parley.request_id": id },
  });
}

function endSpan(span: OpenSpan, status: number): void {
  span.add({ "http.response.status_code": status });
  if (status >= 500) span.fail(String(status));
  span.end();
}
