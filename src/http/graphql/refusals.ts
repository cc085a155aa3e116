/** Errors that the doors themselves raise on purpose: each has a code that clients may rely on. Apollo reads `http` of them. */
import { HeaderMap } from "@apollo/server";
import { GraphQLError, type ASTNode } from "graphql";

/** No token, or one that does not count. */
export function unauthenticated(): GraphQLError {
  return new GraphQLError("A valid access token is needed: send it as `Authorization: Bearer <token>`.", {
    extensions: { code: "UNAUTHENTICATED", http: { status: 401 } },
  });
}

/** The document or operation is over one of the bounds; the message says which, and by how much if known. */
export function tooCostly(message: string, nodes?: readonly ASTNode[]): GraphQLError {
  return new GraphQLError(message, {
    nodes,
    extensions: { code: "QUERY_TOO_COSTLY", http: { status: 400 } },
  });
}

/**
 * Too many operations at one time, or too many of something in a while. `retryAfterMs`: when it is worth to come back;
 * absent when that depends on what the client ends itself.
 */
export function rateLimited(message: string, retryAfterMs?: number): GraphQLError {
  if (retryAfterMs === undefined)
    return new GraphQLError(message, { extensions: { code: "RATE_LIMITED", http: { status: 429 } } });
  const headers = new HeaderMap();
  headers.set("retry-after", String(retryAfterSeconds(retryAfterMs)));
  // A package that is not ours says that headers were a plain object; Apollo wants a Map.
  const http: object = { status: 429, headers };
  return new GraphQLError(message, { extensions: { code: "RATE_LIMITED", retryAfterMs, ...{ http } } });
}

/** In whole seconds, as HTTP has it; never 0. */
export function retryAfterSeconds(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1_000));
}

/** Too many tokens, links or passes from this address were no good. */
export function tooManyFailures(retryAfterMs: number): GraphQLError {
  return rateLimited("Too many tokens from your address were not valid; wait a little.", retryAfterMs);
}

/** Too much is asked of this server at the moment; the same may work later, or elsewhere. */
export function unavailable(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "UNAVAILABLE", http: { status: 503 } } });
}

/** The request cannot be meant as it is. */
export function badUserInput(message: string, cause?: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    nodes: cause?.nodes,
    originalError: cause,
    extensions: { code: "BAD_USER_INPUT", http: { status: 400 } },
  });
}

/** The same error with a code, for errors that graphql-js makes without one. */
export function withCode(error: GraphQLError, code: string): GraphQLError {
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    originalError: error,
    extensions: { code, ...error.extensions },
  });
}
