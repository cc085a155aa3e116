/** Money on the wire: whole microdollars as a decimal string, however small, so that clients see one type. */
import { GraphQLError, GraphQLScalarType, Kind } from "graphql";

const GREATEST = 2n ** 63n - 1n;
const LEAST = -(2n ** 63n);

function fail(value: unknown): never {
  throw new GraphQLError(
    `Micros must be a 64-bit integer as a decimal string or a safe integer; got ${JSON.stringify(value)}.`,
  );
}

function parseText(text: string): bigint {
  if (!/^-?(?:0|[1-9]\d{0,18})$/.test(text)) fail(text);
  const value = BigInt(text);
  if (value > GREATEST || value < LEAST) fail(text);
  return value;
}

function parse(value: unknown): bigint {
  if (typeof value === "string") return parseText(value);
  return Number.isSafeInteger(value) ? BigInt(value as number) : fail(value);
}

export const MicrosScalar = new GraphQLScalarType<bigint, string>({
  name: "Micros",
  description:
    'Millionths of a US dollar; 64-bit signed; ALWAYS a decimal string. Null means unpriced, "0" means free.',
  serialize: (value) => (typeof value === "bigint" ? value : parse(value)).toString(),
  parseValue: parse,
  parseLiteral: (node) =>
    node.kind === Kind.STRING || node.kind === Kind.INT ? parseText(node.value) : fail(undefined),
});
