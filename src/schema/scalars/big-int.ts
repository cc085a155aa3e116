/** Counts and times that pass 32 bits, as decimal strings, however small, so that clients see one type. */
import { GraphQLScalarType } from "graphql";
import { int64Parser } from "./int64.js";

export const BigIntScalar = new GraphQLScalarType<bigint, string>({
  name: "BigInt",
  description:
    "64-bit signed integer; ALWAYS a decimal string on the wire. Taken as such a string or as a safe integer.",
  serialize: (value) => BigInt(value as bigint | string | number).toString(),
  ...int64Parser("BigInt"),
});
