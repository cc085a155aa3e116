/** Who sends a request, found out before its body is read; whoever cannot say so is answered with 401. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Viewer } from "../domain/viewer.js";
import type { ErrorMask } from "./errors.js";
import { unauthenticated } from "./refusals.js";
import { readBearer, type FindViewer } from "./viewer.js";

/** Who asks, and the token that said so. */
export type Credentials = { viewer: Viewer; token: string };

export type Identification = {
  /** For Fastify's `onRequest`: answers the request when it may not go on. */
  demand(request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
  /** Who sent a request that could go on; throws UNAUTHENTICATED for any other. */
  of(request: FastifyRequest): Credentials;
};

export function createIdentification(findViewer: FindViewer, mask: ErrorMask): Identification {
  const known = new WeakMap<FastifyRequest, Credentials>();
  return {
    async demand(request, reply) {
      const token = readBearer(request.headers.authorization);
      const viewer = token === null ? null : await findViewer(token);
      if (viewer && token !== null) {
        known.set(request, { viewer, token });
        return undefined;
      }
      const errors = [mask(unauthenticated())];
      return reply.code(401).header("www-authenticate", "Bearer").send({ errors });
    },
    of(request) {
      const credentials = known.get(request);
      if (!credentials) throw unauthenticated();
      return credentials;
    },
  };
}
