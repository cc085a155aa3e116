/** Addresses on the wire. */
import { GraphQLError, GraphQLScalarType, Kind } from "graphql";

function parse(value: unknown): string {
  if (typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value)) return value;
  throw new GraphQLError(`URL must be an absolute http(s) address; got ${JSON.stringify(value)}.`);
}

export const UrlScalar = new GraphQLScalarType<string, string>({
  name: "URL",
  description: "Absolute http(s) URL. Values that come from models are passed on as the vendor sent them.",
  serialize(value) {
    // A model's odd citation must not cost the reader the whole message, so output is not judged.
    if (typeof value === "string") return value;
    throw new GraphQLError("URL can only show text.");
  },
  parseValue: parse,
  parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined),
});
