/** Errors that the doors themselves raise on purpose: each has a code that clients may rely on. Apollo reads `http` of them. */
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

/** Too many operations at one time. */
export function rateLimited(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "RATE_LIMITED", http: { status: 429 } } });
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
