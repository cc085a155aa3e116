/** Checks the token's scopes against the operation; the one place where scopes are enforced. */
import { type DocumentNode, GraphQLError, type OperationDefinitionNode } from "graphql";
import { requiredScopes } from "../../domain/users/scopes.js";
import { scopesOf, TOKEN_SCOPES, type Viewer } from "../../domain/users/viewer.js";
import { rootFields } from "./root-fields.js";

/** Undefined when the operation may run. */
export function refuseScopes(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  viewer: Viewer,
): GraphQLError | undefined {
  const own = scopesOf(viewer);
  if (own.length === TOKEN_SCOPES.length) return undefined;
  const fields = rootFields(document, operation.selectionSet);
  const missing = requiredScopes(operation.operation, fields).filter((scope) => !own.includes(scope));
  if (missing.length === 0) return undefined;
  const message = `The token does not have the scope ${missing.join(" and ").toUpperCase()}, which this operation requires.`;
  return new GraphQLError(message, { extensions: { code: "FORBIDDEN", http: { status: 403 } } });
}
