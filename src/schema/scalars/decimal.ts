/** Exact decimals on the wire, as strings: nothing ever becomes a float. Used for prices per million tokens. */
import { GraphQLError, GraphQLScalarType, Kind } from "graphql";
import { GREATEST_PRICE, parsePrice, PRICE_DECIMALS } from "../../domain/usage/money.js";

function parse(value: unknown): string {
  if (typeof value === "string" && parsePrice(value) !== null) return value;
  throw new GraphQLError(
    `Decimal must be a string of digits such as "2.50", at most ${GREATEST_PRICE} and with at most ${PRICE_DECIMALS} decimals; got ${JSON.stringify(value)}.`,
  );
}

/** As short as it can be written: what PostgreSQL keeps with ten decimals is shown without the zeros. */
function shorten(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export const DecimalScalar = new GraphQLScalarType<string, string>({
  name: "Decimal",
  description:
    "A number that is not negative, exact, as a decimal string; used for prices in US dollars per million tokens.",
  serialize: (value) => shorten(parse(value)),
  parseValue: parse,
  parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : null),
});
