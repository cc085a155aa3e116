/** Who sends a request, found out before its body is read; whoever cannot say so is answered with 401. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Viewer } from "../../domain/users/viewer.js";
import type { ErrorMask } from "../graphql/errors.js";
import type { AddressOf } from "../common/client-address.js";
import type { TokenGate } from "../common/rate-gate.js";
import { retryAfterSeconds, tooManyFailures, unauthenticated } from "../graphql/refusals.js";
import type { Strangers } from "../subscriptions/anonymous-connections.js";
import { readBearer } from "./viewer.js";
import type { ShownByBrowser } from "./browser-session.js";

/** Who asks, the token that said so, and from where. */
export type Credentials = { viewer: Viewer; token: string; address: string };

export type Identification = {
  /** For Fastify's `onRequest`: answers the request when it may not go on. */
  demand(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  /** False for a request that was answered. */
  mayGoOn(request: FastifyRequest): boolean;
  /** Who sent a request that could go on; throws UNAUTHENTICATED for any other. */
  of(request: FastifyRequest): Credentials;
};

export type IdentificationOptions = {
  checkToken: TokenGate;
  addressOf: AddressOf;
  /** The session that a page of ours came with; null = none. A token goes before it. */
  shownByBrowser: ShownByBrowser;
  strangers: Pick<Strangers, "forget">;
  mask: ErrorMask;
};

export function createIdentification(options: IdentificationOptions): Identification {
  const { checkToken, addressOf, shownByBrowser, strangers, mask } = options;
  const known = new WeakMap<FastifyRequest, Credentials>();
  return {
    async demand(request, reply) {
      const token = readBearer(request.headers.authorization) ?? shownByBrowser(request.headers);
      const address = addressOf(request.raw);
      const found = token === null ? { viewer: null } : await checkToken(token, address);
      if ("retryAfterMs" in found) {
        const errors = [mask(tooManyFailures(found.retryAfterMs))];
        return reply.code(429).header("retry-after", retryAfterSeconds(found.retryAfterMs)).send({ errors });
      }
      if (found.viewer && token !== null) {
        strangers.forget(request.raw.socket);
        known.set(request, { viewer: found.viewer, token, address });
        return undefined;
      }
      const errors = [mask(unauthenticated())];
      return reply.code(401).header("www-authenticate", "Bearer").send({ errors });
    },
    mayGoOn: (request) => known.has(request),
    of(request) {
      const credentials = known.get(request);
      if (!credentials) throw unauthenticated();
      return credentials;
    },
  };
}
