/** Request metrics: duration, kind and status of every request, including refused ones. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RequestKind, RequestMeter } from "../../domain/common/meters.js";

/** Key of a function in an operation's context that records the operation's kind. A symbol, so that no resolver reads it. */
const RECORD_KIND = Symbol("records the kind of the request");

export type MeasuredRequests = {
  /** Adds the request to a context, for `recordOperation`; Apollo copies the context shallowly. */
  of<Context extends object>(request: FastifyRequest, context: Context): Context;
};

/** Call it before the routes are added. */
export function measureRequests(app: FastifyInstance, meter: RequestMeter): MeasuredRequests {
  const kinds = new WeakMap<FastifyRequest, RequestKind>();
  app.addHook("onResponse", (request, reply, done) => {
    const operation = kinds.get(request) ?? kindByRoute(request.routeOptions.url);
    meter.request({ operation, status: reply.statusCode, seconds: reply.elapsedTime / 1_000 });
    done();
  });
  return {
    of: (request, context) => ({
      ...context,
      [RECORD_KIND]: (kind: RequestKind) => kinds.set(request, kind),
    }),
  };
}

/** Records the kind of an operation once it is known. */
export function recordOperation(context: object, kind: RequestKind): void {
  if (RECORD_KIND in context && typeof context[RECORD_KIND] === "function") context[RECORD_KIND](kind);
}

function kindByRoute(route: string | undefined): RequestKind {
  if (route === "/files/:id") return "file";
  return route === "/graphql/stream" ? "subscription" : "other";
}
