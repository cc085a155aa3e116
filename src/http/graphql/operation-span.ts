/** What is told of a GraphQL operation to whoever follows it: its name, never its variables. */
import type { GraphQLFormattedError, OperationDefinitionNode } from "graphql";
import type { Span, SpanBeginning } from "../../domain/common/traces.js";

/** `extensions`: of an operation on a socket, whose request says nothing of each. */
export function operationSpan(
  { operation, name }: OperationDefinitionNode,
  extensions?: Readonly<Record<string, unknown>> | null,
): SpanBeginning {
  const traceparent = extensions?.["traceparent"];
  return {
    name: name ? `${operation} ${name.value}` : operation,
    ...(typeof traceparent === "string" && { traceparent }),
    facts: { "graphql.operation.type": operation, "graphql.operation.name": name?.value },
  };
}

/** How the operation ended. */
export function tellErrors(span: Span, errors: readonly Pick<GraphQLFormattedError, "extensions">[]): void {
  if (errors.length === 0) return;
  const code = errors[0]?.extensions?.["code"];
  span.add({ "parley.errors": errors.length });
  span.fail(typeof code === "string" ? code : "INTERNAL_SERVER_ERROR");
}
