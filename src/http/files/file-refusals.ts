/** What the files' door answers when it does not give or take: as JSON, as GraphQL's errors are. */
import type { FastifyReply } from "fastify";
import { GraphQLError } from "graphql";
import type { ErrorMask } from "../graphql/errors.js";

/** The error as the whole answer; never kept by anybody. */
export function refuse(reply: FastifyReply, mask: ErrorMask, error: GraphQLError): FastifyReply {
  const { status, headers } = error.extensions.http as { status: number; headers?: Map<string, string> };
  return reply
    .code(status)
    .headers(Object.fromEntries(headers ?? []))
    .header("cache-control", "no-store")
    .send({ errors: [mask(error)] });
}

/** It was good once. */
export function linkExpired(): GraphQLError {
  return new GraphQLError("This link has expired: ask for another one.", {
    extensions: { code: "FORBIDDEN", http: { status: 403 } },
  });
}

/** Also for those who may not know. */
export function noSuchFile(): GraphQLError {
  return new GraphQLError("There is no such file, or it is not yours.", {
    extensions: { code: "NOT_FOUND", http: { status: 404 } },
  });
}

/** A status of HTTP and its code for programs; the message is worded for people. */
export function uploadRefused(status: number, code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status } } });
}
