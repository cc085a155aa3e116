/** JSON whose shape belongs to someone else, passed through as it is. */
import { GraphQLError, GraphQLScalarType, type ValueNode } from "graphql";
import { GraphQLJSON } from "graphql-scalars";
import { isDeeperThan, MAX_JSON_DEPTH } from "../../domain/common/json-depth.js";

export const JsonScalar = new GraphQLScalarType({
  ...GraphQLJSON.toConfig(),
  name: "JSON",
  description:
    "JSON whose shape belongs to someone else: tool arguments, tool results, input schemas. What is given is nested at most 100 deep.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc8259",
  parseValue: (value) => bounded(GraphQLJSON.parseValue(value)),
  parseLiteral: (node: ValueNode, variables) => bounded(GraphQLJSON.parseLiteral(node, variables)),
});

function bounded<Value>(value: Value): Value {
  if (isDeeperThan(value)) throw new GraphQLError(`JSON is nested at most ${MAX_JSON_DEPTH} deep.`);
  return value;
}
