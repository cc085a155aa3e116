/** GraphQL errors with a code, for everything that is not a user error. */
import { GraphQLError } from "graphql";

/** The request is invalid. The message states the rule. */
export function badInput(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "BAD_USER_INPUT" } });
}

/** Does not reveal whether the object exists. */
export function forbidden(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "FORBIDDEN" } });
}

/** The server is overloaded. Retryable, also on another replica. */
export function unavailable(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "UNAVAILABLE" } });
}
