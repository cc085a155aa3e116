/** Authenticates HTTP requests before their body is read; others are rejected with 401. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Viewer } from "../../domain/users/viewer.js";
import type { ErrorMask } from "../graphql/errors.js";
import type { AddressOf } from "../common/client-address.js";
import type { TokenGate } from "../common/rate-gate.js";
import { retryAfterSeconds, tooManyFailures, unauthenticated } from "../graphql/refusals.js";
import type { AnonymousConnections } from "../subscriptions/anonymous-connections.js";
import { readBearer } from "./viewer.js";
import type { ReadBrowserSession } from "./browser-session.js";

/** The viewer of a request, with the token and address that it came with. */
export type Credentials = { viewer: Viewer; token: string; address: string };

export type Authentication = {
  /** For Fastify's `onRequest`: responds with an error when the request cannot be authenticated. */
  authenticate(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  /** False for a request that was rejected. */
  isAuthenticated(request: FastifyRequest): boolean;
  /** Credentials of an authenticated request; throws UNAUTHENTICATED for any other. */
  credentialsOf(request: FastifyRequest): Credentials;
};

export type AuthenticationOptions = {
  checkToken: TokenGate;
  addressOf: AddressOf;
  /** Used when there is no token. */
  readBrowserSession: ReadBrowserSession;
  anonymous: Pick<AnonymousConnections, "remove">;
  mask: ErrorMask;
};

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { checkToken, addressOf, readBrowserSession, anonymous, mask } = options;
  const known = new WeakMap<FastifyRequest, Credentials>();
  return {
    async authenticate(request, reply) {
      const token = readBearer(request.headers.authorization) ?? readBrowserSession(request.headers);
      const address = addressOf(request.raw);
      const found = token === null ? { viewer: null } : await checkToken(token, address);
      if ("retryAfterMs" in found) {
        const errors = [mask(tooManyFailures(found.retryAfterMs))];
        return reply.code(429).header("retry-after", retryAfterSeconds(found.retryAfterMs)).send({ errors });
      }
      if (found.viewer && token !== null) {
        anonymous.remove(request.raw.socket);
        known.set(request, { viewer: found.viewer, token, address });
        return undefined;
      }
      const errors = [mask(unauthenticated())];
      return reply.code(401).header("www-authenticate", "Bearer").send({ errors });
    },
    isAuthenticated: (request) => known.has(request),
    credentialsOf(request) {
      const credentials = known.get(request);
      if (!credentials) throw unauthenticated();
      return credentials;
    },
  };
}
