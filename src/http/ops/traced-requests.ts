/**
 * Request context and tracing: from a request's head on, log lines carry its id, and its spans belong to one trace.
 * Health checks and the like are not traced.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { NO_SPAN, type OpenSpan, type Traces } from "../../domain/common/traces.js";
import { runWithContext } from "../../lib/run-context.js";

const TRACED = /^\/(?:graphql|files|auth|mcp)(?:\/|$)/;
/** Its span ends when the response begins: a stream runs for hours. */
const STREAM_ROUTE = "/graphql/stream";

/** Call it before any other hook is added, so that those are included. */
export function traceRequests(app: FastifyInstance, traces: Traces): void {
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
  if (route === undefined || !TRACED.test(route)) return NO_SPAN;
  const traceparent = headers["traceparent"];
  return traces.open({
    name: `${method} ${route}`,
    kind: "server",
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
    attributes: { "http.request.method": method, "http.route": route, "parley.request_id": id },
  });
}

function endSpan(span: OpenSpan, status: number): void {
  span.setAttributes({ "http.response.status_code": status });
  if (status >= 500) span.fail(String(status));
  span.end();
}
