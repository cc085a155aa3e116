/** The `BigInt` scalar: counts and durations that can exceed 32 bits. Always a decimal string, so that clients see one type. */
import { GraphQLScalarType } from "graphql";
import { int64Parser } from "./int64.js";

export const BigIntScalar = new GraphQLScalarType<bigint, string>({
  name: "BigInt",
  description:
    "A 64-bit signed integer, always serialized as a decimal string. Accepts a decimal string or a safe integer as input.",
  serialize: (value) => BigInt(value as bigint | string | number).toString(),
  ...int64Parser("BigInt"),
});
