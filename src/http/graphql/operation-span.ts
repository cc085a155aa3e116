/** Tracing span of a GraphQL operation: has its name, never its variables. */
import type { GraphQLFormattedError, OperationDefinitionNode } from "graphql";
import type { Span, SpanStart } from "../../domain/common/traces.js";

/** `extensions`: those of an operation on a socket, which may have a `traceparent`. */
export function operationSpan(
  { operation, name }: OperationDefinitionNode,
  extensions?: Readonly<Record<string, unknown>> | null,
): SpanStart {
  const traceparent = extensions?.["traceparent"];
  return {
    name: name ? `${operation} ${name.value}` : operation,
    ...(typeof traceparent === "string" && { traceparent }),
    attributes: { "graphql.operation.type": operation, "graphql.operation.name": name?.value },
  };
}

/** Records an operation's errors on its span. */
export function recordErrors(span: Span, errors: readonly Pick<GraphQLFormattedError, "extensions">[]): void {
  if (errors.length === 0) return;
  const code = errors[0]?.extensions?.["code"];
  span.setAttributes({ "parley.errors": errors.length });
  span.fail(typeof code === "string" ? code : "INTERNAL_SERVER_ERROR");
}
