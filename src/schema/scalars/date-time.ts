/** The `DateTime` scalar. */
import { GraphQLError, GraphQLScalarType, Kind } from "graphql";

/** RFC 3339: full date, time with seconds and at most milliseconds, and a zone (`Z` or an offset). */
const FORMAT =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function fail(value: unknown): never {
  throw new GraphQLError(
    `DateTime must be an RFC 3339 timestamp with a zone, like 2026-01-31T12:00:00.000Z; got ${JSON.stringify(value)}.`,
  );
}

/** Milliseconds since the epoch. */
function parse(value: unknown): number {
  if (typeof value !== "string" || !FORMAT.test(value)) fail(value);
  const milliseconds = Date.parse(value);
  const day = Number(value.slice(8, 10));
  const daysInMonth = new Date(
    Date.UTC(Number(value.slice(0, 4)), Number(value.slice(5, 7)), 0),
  ).getUTCDate();
  // Date.parse lets 31 April roll over into May.
  if (Number.isNaN(milliseconds) || day > daysInMonth) fail(value);
  return milliseconds;
}

export const DateTimeScalar = new GraphQLScalarType<number, string>({
  name: "DateTime",
  description: "A UTC timestamp in RFC 3339 format with milliseconds. Always ends in `Z`.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3339",
  serialize(value) {
    if (typeof value === "number" || value instanceof Date) return new Date(value).toISOString();
    throw new GraphQLError("DateTime can only serialize milliseconds since the epoch or a Date.");
  },
  parseValue: parse,
  parseLiteral: (node) => (node.kind === Kind.STRING ? parse(node.value) : fail(undefined)),
});
