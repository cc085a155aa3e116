/** The `JSON` scalar: values whose structure is defined elsewhere, passed through unchanged. */
import { GraphQLError, GraphQLScalarType, type ValueNode } from "graphql";
import { GraphQLJSON } from "graphql-scalars";
import { isDeeperThan, MAX_JSON_DEPTH } from "../../domain/common/json-depth.js";

export const JsonScalar = new GraphQLScalarType({
  ...GraphQLJSON.toConfig(),
  name: "JSON",
  description:
    "A JSON value whose structure is defined elsewhere: tool arguments, tool results, input schemas. Input values may be nested at most 100 levels deep.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc8259",
  parseValue: (value) => bounded(GraphQLJSON.parseValue(value)),
  parseLiteral: (node: ValueNode, variables) => bounded(GraphQLJSON.parseLiteral(node, variables)),
});

function bounded<Value>(value: Value): Value {
  if (isDeeperThan(value)) throw new GraphQLError(`JSON is nested at most ${MAX_JSON_DEPTH} deep.`);
  return value;
}
