/**
 * Rate limits at the endpoints: on mutations, on visits to unauthenticated pages, and on invalid tokens. All endpoints
 * share the counters.
 */
import type { DocumentNode, GraphQLError, OperationDefinitionNode } from "graphql";
import type { FastifyInstance } from "fastify";
import { NO_RATE_LIMITS, type RateLimits } from "../../domain/common/rate-limits.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { type AddressOf, NO_PROXIES, readAddresses, type AddressSource } from "./client-address.js";
import { sendPage } from "./plain-page.js";
import { rateLimited, retryAfterSeconds } from "../graphql/refusals.js";
import { rootFields } from "../graphql/root-fields.js";
import type { ViewerCache } from "../auth/viewer.js";

/** The user and address that mutations are counted for. */
export type RequestSource = { viewer: Pick<Viewer, "userId">; address: string };

export type RateGate = {
  addressOf: AddressOf;
  /** Counts a mutation's root fields, fragments expanded; other operations are free. Returns the error when over the limit. */
  refuseOperation(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    source: RequestSource,
  ): Promise<GraphQLError | undefined>;
  /** Counts a page visit; returns the milliseconds to wait when there were too many, else null. */
  countVisit(source: AddressSource): Promise<number | null>;
  /** Milliseconds until credentials from this address are checked again; null = now. */
  failureWaitMs(address: string): Promise<number | null>;
  /** Counts an invalid credential from the address. */
  countFailure(address: string): Promise<void>;
};

export function createRateGate(rates: RateLimits, addressOf: AddressOf): RateGate {
  return {
    addressOf,
    async refuseOperation(document, operation, { viewer, address }) {
      if (operation.operation !== "mutation") return undefined;
      const uses = rootFields(document, operation.selectionSet).length;
      // Concurrently: one round trip to Redis.
      const [ofUser, ofAddress] = await Promise.all([
        rates.take("user-mutations", viewer.userId, uses),
        rates.take("address-mutations", address, uses),
      ]);
      if (ofUser !== null) return rateLimited("You have sent too many mutations; try again later.", ofUser);
      if (ofAddress === null) return undefined;
      return rateLimited("Too many mutations from your address; try again later.", ofAddress);
    },
    countVisit: (source) => rates.take("address-visits", addressOf(source), 1),
    failureWaitMs: (address) => rates.take("address-failures", address, 0),
    countFailure: async (address) => void (await rates.take("address-failures", address, 1)),
  };
}

/** A gate without limits. */
export const OPEN_GATE: RateGate = createRateGate(NO_RATE_LIMITS, readAddresses(NO_PROXIES));

/** The viewer of a token, or the wait when the address has presented too many invalid ones. */
export type FoundViewer = { viewer: Viewer | null } | { retryAfterMs: number };
export type TokenGate = (token: string, address: string) => Promise<FoundViewer>;

/** Limits token lookups per address. A recently valid token is always looked up, so that its user is not affected by others. */
export function guardTokens(viewers: ViewerCache, gate: RateGate): TokenGate {
  return async (token, address) => {
    if (!viewers.wasValid(token)) {
      const retryAfterMs = await gate.failureWaitMs(address);
      if (retryAfterMs !== null) return { retryAfterMs };
    }
    const viewer = await viewers.find(token);
    if (viewer === null) await gate.countFailure(address);
    return { viewer };
  };
}

/** Limits visits to the pages below these paths. Call it before the routes are added. */
export function limitVisits(app: FastifyInstance, gate: RateGate, paths: readonly string[]): void {
  app.addHook("onRequest", async (request, reply) => {
    const route = request.routeOptions.url ?? "";
    if (!paths.some((path) => route.startsWith(path))) return undefined;
    const retryAfterMs = await gate.countVisit(request.raw);
    if (retryAfterMs === null) return undefined;
    const text = "Wait a minute and try again.";
    reply.header("retry-after", retryAfterSeconds(retryAfterMs));
    return sendPage(reply, { status: 429, title: "Too many visits from your address", text });
  });
}

/** Key of the client address in an operation's context. A symbol, so that no resolver reads it. */
const ADDRESS = Symbol("client address");

/** Adds the client address to a context; Apollo copies the context shallowly. */
export function withAddress<Context extends object>(context: Context, address: string): Context {
  return { ...context, [ADDRESS]: address };
}

/** The address that `withAddress` added. */
export function addressIn(context: object): string {
  return ADDRESS in context && typeof context[ADDRESS] === "string" ? context[ADDRESS] : "unknown";
}
