/** GraphQL over HTTP at /graphql: who asks, their place among what they run, the document, then Apollo. */
import { fastifyApolloHandler } from "@as-integrations/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GraphQLError } from "graphql";
import type { ByteAccounts } from "../../lib/streams/byte-accounts.js";
import { withRoom } from "./answer-size.js";
import { DOCUMENT_CODES, type startApollo } from "./apollo.js";
import type { DocumentGate } from "./document-gate.js";
import type { ErrorMask } from "./errors.js";
import { createGraphiqlPage, wantsGraphiql } from "./graphiql.js";
import type { Identification } from "../auth/identification.js";
import type { MeasuredRequests } from "../ops/measured-requests.js";
import { withAddress } from "../common/rate-gate.js";
import { retryAfterSeconds } from "./refusals.js";
import type { CreateContext } from "../subscriptions/sessions.js";
import { withPlace, type Place, type UserWork } from "./user-work.js";

export type GraphqlRouteOptions = {
  apollo: Awaited<ReturnType<typeof startApollo>>;
  createContext: CreateContext;
  isGraphiqlOn: boolean;
  gate: DocumentGate;
  work: UserWork;
  identification: Identification;
  accounts: ByteAccounts;
  mask: ErrorMask;
  measured: MeasuredRequests;
  /** Of one request, in bytes. */
  maxBodyBytes: number;
};

const GRAPHQL_JSON = "application/graphql-response+json";

export function addGraphqlRoute(app: FastifyInstance, options: GraphqlRouteOptions): void {
  const { apollo, identification, accounts, measured, createContext } = options;
  const sendPage = createGraphiqlPage();
  const places = new WeakMap<FastifyRequest, Place>();
  const begun = new WeakSet<FastifyRequest>();
  const bytesBefore = new WeakMap<FastifyRequest, number>();
  const placeOf = (request: FastifyRequest): Place => {
    const place = places.get(request);
    if (!place) throw new Error("A request came to Apollo without a place");
    return place;
  };
  app.route({
    url: "/graphql",
    method: ["GET", "POST"],
    bodyLimit: options.maxBodyBytes,
    onRequest: async (request, reply) => {
      if (options.isGraphiqlOn && wantsGraphiql(request)) return sendPage(request, reply);
      await identification.demand(request, reply);
      if (!identification.mayGoOn(request)) return reply;
      // Before the body is read: what a refusal costs is next to nothing.
      const place = await options.work.enter(identification.of(request).viewer.userId);
      if (place instanceof GraphQLError) return refuse(reply, place, options.mask);
      if (reply.raw.destroyed) {
        place.leave();
        return reply.hijack();
      }
      places.set(request, place);
      // What runs goes on when its client has gone, and so keeps its place until there is an answer.
      reply.raw.once("close", () => begun.has(request) || place.leave());
      bytesBefore.set(request, request.raw.socket.bytesRead);
      return undefined;
    },
    preHandler: async (request, reply) => {
      const place = placeOf(request);
      // What came with the head is little.
      place.chargeBytes(request.raw.socket.bytesRead - (bytesBefore.get(request) ?? 0));
      const query = readQuery(request);
      if (query === undefined) return undefined;
      if (!options.gate.isKnown(query)) await place.turn();
      const reading = place.measure(() => options.gate.read(query));
      if (reading.kind === "read") return undefined;
      return refuseDocument(request, reply, reading.errors.map(options.mask));
    },
    // The answer is made: how long its client takes to read it is not the place's business.
    onSend: async (request) => places.get(request)?.leave(),
    handler: fastifyApolloHandler(apollo, {
      context: async (request, reply) => {
        begun.add(request);
        const { viewer, address } = identification.of(request);
        const room = accounts.open(viewer.userId);
        reply.raw.once("close", () => room.release());
        // The client has gone: nothing else would release it.
        if (reply.raw.destroyed) room.release();
        const own = withRoom(createContext(viewer, { requestId: request.id, room }), room);
        const context = withAddress(own, address);
        return measured.of(request, withPlace(context, placeOf(request)));
      },
    }),
  });
}

function refuse(reply: FastifyReply, error: GraphQLError, mask: ErrorMask) {
  const { retryAfterMs } = error.extensions;
  if (typeof retryAfterMs === "number") reply.header("retry-after", retryAfterSeconds(retryAfterMs));
  return reply.code(429).send({ errors: [mask(error)] });
}

/** As Apollo answers: the GraphQL-over-HTTP spec wants 200, except for clients that accept its own media type. */
function refuseDocument(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  errors: readonly ReturnType<ErrorMask>[],
) {
  const isSpoken = headers.accept?.includes(GRAPHQL_JSON) ?? false;
  const isPlain = !isSpoken && DOCUMENT_CODES.has(errors[0]?.extensions?.["code"]);
  return reply
    .code(isPlain ? 200 : 400)
    .header("content-type", `${isSpoken ? GRAPHQL_JSON : "application/json"}; charset=utf-8`)
    .header("cache-control", "no-store")
    .send(JSON.stringify({ errors }));
}

/** Undefined when there is none, which Apollo answers. */
function readQuery(request: FastifyRequest): string | undefined {
  const holder: unknown = request.method === "GET" ? request.query : request.body;
  if (typeof holder !== "object" || holder === null || !("query" in holder)) return undefined;
  return typeof holder.query === "string" && holder.query !== "" ? holder.query : undefined;
}
