/** The `URL` scalar. */
import { GraphQLError, GraphQLScalarType, Kind } from "graphql";

function parse(value: unknown): string {
  if (typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value)) return value;
  throw new GraphQLError(`URL must be an absolute http(s) URL; got ${JSON.stringify(value)}.`);
}

export const UrlScalar = new GraphQLScalarType<string, string>({
  name: "URL",
  description: "An absolute http(s) URL. URLs written by models are passed on as received from the vendor.",
  serialize(value) {
    // Output is not validated: an odd URL cited by a model must not make the whole message fail.
    if (typeof value === "string") return value;
    throw new GraphQLError("URL can only serialize strings.");
  },
  parseValue: parse,
  parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined),
});
