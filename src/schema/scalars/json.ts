/** JSON whose shape belongs to someone else, passed through as it is. */
import { GraphQLScalarType } from "graphql";
import { GraphQLJSON } from "graphql-scalars";

export const JsonScalar = new GraphQLScalarType({
  ...GraphQLJSON.toConfig(),
  name: "JSON",
  description: "JSON whose shape belongs to someone else: tool arguments, tool results, input schemas.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc8259",
});
