/** Parsing of the 64-bit integer scalars: accepts a decimal string or a safe integer. */
import { GraphQLError, Kind, type ValueNode } from "graphql";

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** Parser for the scalar of the given name. Throws a `GraphQLError` that states the expected format. */
export function int64Parser(name: string) {
  const fail = (value: unknown): never => {
    throw new GraphQLError(
      `${name} must be a 64-bit integer as a decimal string or a safe integer; got ${JSON.stringify(value)}.`,
    );
  };
  const parseText = (text: string): bigint => {
    if (!/^-?(?:0|[1-9]\d{0,18})$/.test(text)) return fail(text);
    const value = BigInt(text);
    return value > MAX_INT64 || value < MIN_INT64 ? fail(text) : value;
  };
  const parseValue = (value: unknown): bigint => {
    if (typeof value === "string") return parseText(value);
    return Number.isSafeInteger(value) ? BigInt(value as number) : fail(value);
  };
  const parseLiteral = (node: ValueNode): bigint =>
    node.kind === Kind.STRING || node.kind === Kind.INT ? parseText(node.value) : fail(undefined);
  return { parseValue, parseLiteral };
}
