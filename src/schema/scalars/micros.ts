/** Money on the wire: whole microdollars as a decimal string, however small, so that clients see one type. */
import { GraphQLScalarType } from "graphql";
import { int64Parser } from "./int64.js";

const parser = int64Parser("Micros");

export const MicrosScalar = new GraphQLScalarType<bigint, string>({
  name: "Micros",
  description:
    'Millionths of a US dollar; 64-bit signed; ALWAYS a decimal string. Null means unpriced, "0" means free.',
  serialize: (value) => (typeof value === "bigint" ? value : parser.parseValue(value)).toString(),
  ...parser,
});
