/** The `Micros` scalar: whole microdollars. Always a decimal string, so that clients see one type. */
import { GraphQLScalarType } from "graphql";
import { int64Parser } from "./int64.js";

const parser = int64Parser("Micros");

export const MicrosScalar = new GraphQLScalarType<bigint, string>({
  name: "Micros",
  description:
    'An amount in millionths of a US dollar: a 64-bit signed integer, always serialized as a decimal string. Null means that the price is unknown, "0" that it is free.',
  serialize: (value) => (typeof value === "bigint" ? value : parser.parseValue(value)).toString(),
  ...parser,
});
