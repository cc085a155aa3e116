/** The errors' other lane: what no person can act on goes to the response's `errors`, with a code. */
import { GraphQLError } from "graphql";

/** The client asked in a way that can never work. The message states the rule. */
export function badInput(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "BAD_USER_INPUT" } });
}

/** Says nothing about whether the object exists. */
export function forbidden(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "FORBIDDEN" } });
}

/** Too much is asked of this server at the moment; the same works later, or elsewhere. */
export function unavailable(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "UNAVAILABLE" } });
}
