/**
 * Whether whoever comes to a door has come too often: by mutations, by visits to pages that ask for no token, by tokens
 * that were no good. All doors count the same way.
 */
import type { DocumentNode, GraphQLError, OperationDefinitionNode } from "graphql";
import type { FastifyInstance } from "fastify";
import { NO_RATE_LIMITS, type RateLimits } from "../../domain/common/rate-limits.js";
import type { Viewer } from "../../domain/users/viewer.js";
import { type AddressOf, NO_PROXIES, readAddresses, type Visitor } from "./client-address.js";
import { sendPage } from "./plain-page.js";
import { rateLimited, retryAfterSeconds } from "../graphql/refusals.js";
import { rootFields } from "../graphql/root-fields.js";
import type { RememberedViewers } from "../auth/viewer.js";

/** Who asks for mutations, and from where. */
export type Asking = { viewer: Pick<Viewer, "userId">; address: string };

export type RateGate = {
  addressOf: AddressOf;
  /** Counts a mutation's root fields, fragments looked through; anything else is free. */
  refuseOperation(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    asking: Asking,
  ): Promise<GraphQLError | undefined>;
  /** Counts a visit to a page; how many milliseconds to stay away when there were too many. */
  countVisit(visitor: Visitor): Promise<number | null>;
  /** How many milliseconds are to pass before anything is looked at that this address shows. */
  isFailing(address: string): Promise<number | null>;
  /** What the address has shown was no good. */
  countFailure(address: string): Promise<void>;
};

export function createRateGate(rates: RateLimits, addressOf: AddressOf): RateGate {
  return {
    addressOf,
    async refuseOperation(document, operation, { viewer, address }) {
      if (operation.operation !== "mutation") return undefined;
      const uses = rootFields(document, operation.selectionSet).length;
      // Both at once: in Redis they are one round trip.
      const [ofUser, ofAddress] = await Promise.all([
        rates.take("user-mutations", viewer.userId, uses),
        rates.take("address-mutations", address, uses),
      ]);
      if (ofUser !== null) return rateLimited("You have sent too many mutations; wait a little.", ofUser);
      if (ofAddress === null) return undefined;
      return rateLimited("Too many mutations come from your address; wait a little.", ofAddress);
    },
    countVisit: (visitor) => rates.take("address-visits", addressOf(visitor), 1),
    isFailing: (address) => rates.take("address-failures", address, 0),
    countFailure: async (address) => void (await rates.take("address-failures", address, 1)),
  };
}

/** Everybody may come as often as they like. */
export const OPEN_GATE: RateGate = createRateGate(NO_RATE_LIMITS, readAddresses(NO_PROXIES));

/** What somebody has shown, looked up unless the address has shown too much that was no good. */
export type FoundViewer = { viewer: Viewer | null } | { retryAfterMs: number };
export type TokenGate = (token: string, address: string) => Promise<FoundViewer>;

/** A token that was good a while ago is always looked up: whoever shares an address with a stranger goes on working. */
export function guardTokens(viewers: RememberedViewers, gate: RateGate): TokenGate {
  return async (token, address) => {
    if (!viewers.wasGood(token)) {
      const retryAfterMs = await gate.isFailing(address);
      if (retryAfterMs !== null) return { retryAfterMs };
    }
    const viewer = await viewers.find(token);
    if (viewer === null) await gate.countFailure(address);
    return { viewer };
  };
}

/** Counts visits to the pages below these paths. Call it before the routes are added. */
export function limitVisits(app: FastifyInstance, gate: RateGate, paths: readonly string[]): void {
  app.addHook("onRequest", async (request, reply) => {
    const route = request.routeOptions.url ?? "";
    if (!paths.some((path) => route.startsWith(path))) return undefined;
    const retryAfterMs = await gate.countVisit(request.raw);
    if (retryAfterMs === null) return undefined;
    const text = "Wait a minute, then try again.";
    reply.header("retry-after", retryAfterSeconds(retryAfterMs));
    return sendPage(reply, { status: 429, title: "Too many visits from your address", text });
  });
}

/** In an operation's context: where its request comes from. A symbol, so that no resolver meets it. */
const ADDRESS = Symbol("where the request comes from");

/** The same context with the address in it; Apollo copies it shallowly. */
export function withAddress<Context extends object>(context: Context, address: string): Context {
  return { ...context, [ADDRESS]: address };
}

/** What `withAddress` has put there. */
export function addressIn(context: object): string {
  return ADDRESS in context && typeof context[ADDRESS] === "string" ? context[ADDRESS] : "unknown";
}
