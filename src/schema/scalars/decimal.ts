/** The `Decimal` scalar: exact decimals as strings, never converted to floats. Used for prices per million tokens. */
import { GraphQLError, GraphQLScalarType, Kind } from "graphql";
import { MAX_PRICE, parsePrice, PRICE_DECIMALS } from "../../domain/usage/money.js";

function parse(value: unknown): string {
  if (typeof value === "string" && parsePrice(value) !== null) return value;
  throw new GraphQLError(
    `Decimal must be a string of digits such as "2.50", at most ${MAX_PRICE} and with at most ${PRICE_DECIMALS} decimals; got ${JSON.stringify(value)}.`,
  );
}

/** Removes trailing zeros: PostgreSQL stores ten decimals. */
function shorten(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export const DecimalScalar = new GraphQLScalarType<string, string>({
  name: "Decimal",
  description:
    "A non-negative decimal number of arbitrary precision, serialized as a string. Used for prices in US dollars per million tokens.",
  serialize: (value) => shorten(parse(value)),
  parseValue: parse,
  parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : null),
});
