/** Error responses of the file routes, in the JSON form of GraphQL errors. */
import type { FastifyReply } from "fastify";
import { GraphQLError } from "graphql";
import type { ErrorMask } from "../graphql/errors.js";

/** Sends the error; the response is not cacheable. */
export function refuse(reply: FastifyReply, mask: ErrorMask, error: GraphQLError): FastifyReply {
  const { status, headers } = error.extensions.http as { status: number; headers?: Map<string, string> };
  return reply
    .code(status)
    .headers(Object.fromEntries(headers ?? []))
    .header("cache-control", "no-store")
    .send({ errors: [mask(error)] });
}

export function linkExpired(): GraphQLError {
  return new GraphQLError("This link has expired: request a new one.", {
    extensions: { code: "FORBIDDEN", http: { status: 403 } },
  });
}

/** Also for files that the viewer may not see. */
export function noSuchFile(): GraphQLError {
  return new GraphQLError("The file does not exist, or you do not have access to it.", {
    extensions: { code: "NOT_FOUND", http: { status: 404 } },
  });
}

/** An HTTP status, with a code for programs and a message for users. */
export function uploadRefused(status: number, code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } });
}
