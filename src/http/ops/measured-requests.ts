/** Tells of each request how long it took, what it was for and how it was answered, refused ones included. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RequestKind, RequestMeter } from "../../domain/common/meters.js";

/** In an operation's context: what to tell its kind to. A symbol, so that no resolver meets it. */
const TELL = Symbol("tells what the request is for");

export type MeasuredRequests = {
  /** The same context, which `tellOperation` knows the request by; Apollo copies it shallowly. */
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
    of: (request, context) => ({ ...context, [TELL]: (kind: RequestKind) => kinds.set(request, kind) }),
  };
}

/** What an operation turned out to be. */
export function tellOperation(context: object, kind: RequestKind): void {
  if (TELL in context && typeof context[TELL] === "function") context[TELL](kind);
}

function kindByRoute(route: string | undefined): RequestKind {
  if (route === "/files/:id") return "file";
  return route === "/graphql/stream" ? "subscription" : "other";
}
