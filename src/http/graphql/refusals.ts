/** Errors that the HTTP server itself returns, each with a code that clients may rely on. Apollo reads their `http`. */
import { HeaderMap } from "@apollo/server";
import { GraphQLError, type ASTNode } from "graphql";

/** No token, or an invalid one. */
export function unauthenticated(): GraphQLError {
  return new GraphQLError("A valid access token is required: send it as `Authorization: Bearer <token>`.", {
    extensions: { code: "UNAUTHENTICATED", http: { status: 401 } },
  });
}

/** The document or operation exceeds one of the limits; the message states which, and by how much if known. */
export function tooCostly(message: string, nodes?: readonly ASTNode[]): GraphQLError {
  return new GraphQLError(message, {
    nodes,
    extensions: { code: "QUERY_TOO_COSTLY", http: { status: 400 } },
  });
}

/**
 * Too many concurrent operations, or a rate limit was exceeded. `retryAfterMs`: suggested delay; absent when it depends on
 * when the client ends other operations.
 */
export function rateLimited(message: string, retryAfterMs?: number): GraphQLError {
  if (retryAfterMs === undefined)
    return new GraphQLError(message, { extensions: { code: "RATE_LIMITED", http: { status: 429 } } });
  const headers = new HeaderMap();
  headers.set("retry-after", String(retryAfterSeconds(retryAfterMs)));
  // Another package declares `headers` as a plain object; Apollo needs a Map.
  const http: object = { status: 429, headers };
  return new GraphQLError(message, { extensions: { code: "RATE_LIMITED", retryAfterMs, ...{ http } } });
}

/** Whole seconds for the `Retry-After` header; never 0. */
export function retryAfterSeconds(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1_000));
}

/** Too many tokens, links or other credentials from this address were invalid. */
export function tooManyFailures(retryAfterMs: number): GraphQLError {
  return rateLimited("Too many invalid tokens from your address; try again later.", retryAfterMs);
}

/** This server is overloaded or closing; the request may succeed later, or at another replica. */
export function unavailable(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "UNAVAILABLE", http: { status: 503 } } });
}

/** The request is invalid. */
export function badUserInput(message: string, cause?: GraphQLError): GraphQLError {
  return new GraphQLError(message, {
    nodes: cause?.nodes,
    originalError: cause,
    extensions: { code: "BAD_USER_INPUT", http: { status: 400 } },
  });
}

/** Adds a code to an error of graphql-js. */
export function withCode(error: GraphQLError, code: string): GraphQLError {
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    originalError: error,
    extensions: { code, ...error.extensions },
  });
}
