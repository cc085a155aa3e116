/** GraphQL over HTTP at /graphql: authentication, per-user admission, the document gate, then Apollo. */
import { fastifyApolloHandler } from "@as-integrations/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GraphQLError } from "graphql";
import type { ByteBudget } from "../../lib/streams/byte-budget.js";
import { withReservation } from "./response-size.js";
import { DOCUMENT_CODES, type startApollo } from "./apollo.js";
import type { DocumentGate } from "./document-gate.js";
import type { ErrorMask } from "./errors.js";
import { createGraphiqlPage, wantsGraphiql } from "./graphiql.js";
import type { Authentication } from "../auth/authentication.js";
import type { MeasuredRequests } from "../ops/measured-requests.js";
import { withAddress } from "../common/rate-gate.js";
import { retryAfterSeconds } from "./refusals.js";
import type { CreateContext } from "../subscriptions/sessions.js";
import { withPermit, type WorkPermit, type UserAdmission } from "./user-admission.js";

export type GraphqlRouteOptions = {
  apollo: Awaited<ReturnType<typeof startApollo>>;
  createContext: CreateContext;
  isGraphiqlOn: boolean;
  gate: DocumentGate;
  admission: UserAdmission;
  authentication: Authentication;
  byteBudget: ByteBudget;
  mask: ErrorMask;
  measured: MeasuredRequests;
  /** Largest request body, in bytes. */
  maxBodyBytes: number;
};

const GRAPHQL_JSON = "application/graphql-response+json";

export function addGraphqlRoute(app: FastifyInstance, options: GraphqlRouteOptions): void {
  const requests = new GraphqlRequests(options);
  app.route({
    url: "/graphql",
    method: ["GET", "POST"],
    bodyLimit: options.maxBodyBytes,
    onRequest: (request, reply) => requests.admit(request, reply),
    preHandler: (request, reply) => requests.checkDocument(request, reply),
    // The operation has ended; sending the response does not need the permit.
    onSend: async (request) => requests.release(request),
    handler: fastifyApolloHandler(options.apollo, {
      context: async (request, reply) => requests.start(request, reply),
    }),
  });
}

type AdmittedRequest = {
  permit: WorkPermit;
  /** Bytes that the connection had received when its body was not read yet. */
  bytesBefore: number;
  /** The operation continues when its client has gone, and keeps its permit until it has a result. */
  isStarted: boolean;
};

/** The steps of a request, in this order: admission, check of the document, start of the operation, release. */
class GraphqlRequests {
  readonly #admitted = new WeakMap<FastifyRequest, AdmittedRequest>();
  readonly #sendPage = createGraphiqlPage();

  constructor(private readonly options: GraphqlRouteOptions) {}

  /** Runs before the body is read, so that a refusal costs next to nothing. Responds itself unless it admits. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { authentication, admission } = this.options;
    if (this.options.isGraphiqlOn && wantsGraphiql(request)) return this.#sendPage(request, reply);
    await authentication.authenticate(request, reply);
    if (!authentication.isAuthenticated(request)) return reply;
    const permit = await admission.acquire(authentication.credentialsOf(request).viewer.userId);
    if (permit instanceof GraphQLError) return refuse(reply, permit, this.options.mask);
    if (reply.raw.destroyed) {
      permit.release();
      return reply.hijack();
    }
    const admitted = { permit, bytesBefore: request.raw.socket.bytesRead, isStarted: false };
    this.#admitted.set(request, admitted);
    reply.raw.once("close", () => admitted.isStarted || permit.release());
    return undefined;
  }

  /** Responds itself when the document is refused. */
  async checkDocument(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { gate, mask } = this.options;
    const { permit, bytesBefore } = this.#admittedOf(request);
    // The bytes of the head are negligible.
    permit.chargeBytes(request.raw.socket.bytesRead - bytesBefore);
    const query = readQuery(request);
    if (query === undefined) return undefined;
    if (!gate.isKnown(query)) await permit.turn();
    const reading = permit.measure(() => gate.read(query));
    if (reading.kind === "read") return undefined;
    return refuseDocument(request, reply, reading.errors.map(mask));
  }

  /** The operation's context. */
  start(request: FastifyRequest, reply: FastifyReply) {
    const { authentication, byteBudget, createContext, measured } = this.options;
    const admitted = this.#admittedOf(request);
    admitted.isStarted = true;
    const { viewer, address } = authentication.credentialsOf(request);
    const reservation = byteBudget.open(viewer.userId);
    reply.raw.once("close", () => reservation.release());
    // The client has gone: nothing else would release it.
    if (reply.raw.destroyed) reservation.release();
    const own = createContext(viewer, { requestId: request.id, reservation });
    const context = withAddress(withReservation(own, reservation), address);
    return measured.of(request, withPermit(context, admitted.permit));
  }

  release(request: FastifyRequest): void {
    this.#admitted.get(request)?.permit.release();
  }

  #admittedOf(request: FastifyRequest): AdmittedRequest {
    const admitted = this.#admitted.get(request);
    if (!admitted) throw new Error("request without a permit");
    return admitted;
  }
}

function refuse(reply: FastifyReply, error: GraphQLError, mask: ErrorMask) {
  const { retryAfterMs } = error.extensions;
  if (typeof retryAfterMs === "number") reply.header("retry-after", retryAfterSeconds(retryAfterMs));
  return reply.code(429).send({ errors: [mask(error)] });
}

/** Responds like Apollo: the GraphQL-over-HTTP spec requires 200, except for clients that accept its own media type. */
function refuseDocument(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  errors: readonly ReturnType<ErrorMask>[],
) {
  const acceptsGraphqlJson = headers.accept?.includes(GRAPHQL_JSON) ?? false;
  const isOk = !acceptsGraphqlJson && DOCUMENT_CODES.has(errors[0]?.extensions?.["code"]);
  return reply
    .code(isOk ? 200 : 400)
    .header("content-type", `${acceptsGraphqlJson ? GRAPHQL_JSON : "application/json"}; charset=utf-8`)
    .header("cache-control", "no-store")
    .send(JSON.stringify({ errors }));
}

/** Undefined when there is none, which Apollo refuses. */
function readQuery(request: FastifyRequest): string | undefined {
  const holder: unknown = request.method === "GET" ? request.query : request.body;
  if (typeof holder !== "object" || holder === null || !("query" in holder)) return undefined;
  return typeof holder.query === "string" && holder.query !== "" ? holder.query : undefined;
}
