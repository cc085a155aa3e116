import { type GraphQLScalarType, Kind } from "graphql";
import { describe, expect, test } from "vitest";
import { BigIntScalar } from "./big-int.js";
import { DateTimeScalar } from "./date-time.js";
import { DecimalScalar } from "./decimal.js";
import { JsonScalar } from "./json.js";
import { MicrosScalar } from "./micros.js";
import { UrlScalar } from "./url.js";

function accepts(scalar: GraphQLScalarType, value: unknown): boolean {
  try {
    scalar.parseValue(value);
    return true;
  } catch {
    return false;
  }
}

describe("DateTime", () => {
  test.each([
    ["2026-01-31T12:00:00.000Z", 1_769_860_800_000],
    ["2026-01-31T12:00:00Z", 1_769_860_800_000],
    ["2026-01-31T14:30:00.5+02:30", 1_769_860_800_500],
    ["2028-02-29T00:00:00Z", 1_835_395_200_000],
  ])("takes %s", (text, milliseconds) => {
    expect(DateTimeScalar.parseValue(text)).toBe(milliseconds);
  });

  test.each([
    "2026-01-31T12:00:00",
    "2026-01-31",
    "2026-01-31 12:00:00Z",
    "2026-02-29T12:00:00Z",
    "2026-04-31T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T12:00:00.123456Z",
    "20260131T120000Z",
    "",
    1_769_860_800_000,
    null,
  ])("refuses %j", (value) => {
    expect(accepts(DateTimeScalar, value)).toBe(false);
  });

  test("always shows milliseconds and Z", () => {
    expect([0, 1_769_860_800_500, new Date(7)].map((value) => DateTimeScalar.serialize(value))).toEqual([
      "1970-01-01T00:00:00.000Z",
      "2026-01-31T12:00:00.500Z",
      "1970-01-01T00:00:00.007Z",
    ]);
  });
});

describe("Micros", () => {
  test("are always text, however small", () => {
    expect(
      [0n, "5", 5, "9007199254740993", -(2n ** 63n)].map((value) => MicrosScalar.serialize(value)),
    ).toEqual(["0", "5", "5", "9007199254740993", "-9223372036854775808"]);
  });

  test("come in as text or as a safe integer", () => {
    expect([
      MicrosScalar.parseValue("9223372036854775807"),
      MicrosScalar.parseValue(-3),
      MicrosScalar.parseLiteral({ kind: Kind.INT, value: "9007199254740993" }),
    ]).toEqual([9_223_372_036_854_775_807n, -3n, 9_007_199_254_740_993n]);
  });

  test.each(["9223372036854775808", "1.5", "01", "", "1e3", " 1", "0x10", 1.5, 2 ** 53, null, true])(
    "refuse %j",
    (value) => {
      expect(accepts(MicrosScalar, value)).toBe(false);
    },
  );
});

describe("URL", () => {
  test.each(["https://example.org/a?b#c", "HTTP://localhost:1"])("takes %s", (text) => {
    expect(UrlScalar.parseValue(text)).toBe(text);
  });

  test.each(["ftp://example.org", "javascript:alert(1)", "/path", "https://", "", 5])(
    "refuses %j",
    (value) => {
      expect(accepts(UrlScalar, value)).toBe(false);
    },
  );

  test("shows what a model cited as it is, so that one odd citation does not cost the message", () => {
    expect(UrlScalar.serialize("file:///odd")).toBe("file:///odd");
  });
});

test("JSON passes any JSON through", () => {
  const value = { a: [1, "x", null, { b: false }] };
  expect(JsonScalar.parseValue(JsonScalar.serialize(value))).toEqual(value);
});

describe("Decimal", () => {
  test.each(["0", "2.50", "0.0000000001", "1000000"])("takes %s as it is", (text) => {
    expect(DecimalScalar.parseValue(text)).toBe(text);
  });

  test.each(["", "-1", "1e2", "1.", "NaN", "1000001", "0.00000000001", 3, null])("refuses %j", (value) => {
    expect(accepts(DecimalScalar, value)).toBe(false);
  });

  test("is shown as short as it can be written", () => {
    const stored = ["3.0000000000", "0.1250000000", "0.0000000000", "100", "10.0000000000"];
    expect(stored.map((value) => DecimalScalar.serialize(value))).toEqual(["3", "0.125", "0", "100", "10"]);
  });
});

describe("BigInt", () => {
  test("is always text, however small", () => {
    const values = [0n, "12", 9_223_372_036_854_775_807n];
    expect(values.map((value) => BigIntScalar.serialize(value))).toEqual(["0", "12", "9223372036854775807"]);
  });

  test.each([0, -5, 9_007_199_254_740_991, "0", "-5", "9223372036854775807"])("takes %j", (value) => {
    expect(BigIntScalar.parseValue(value)).toBe(BigInt(value));
  });

  test.each(["9223372036854775808", "1.5", "", "1e3", "0x10", 1.5, 2 ** 53, true, null])(
    "refuses %j",
    (value) => {
      expect(accepts(BigIntScalar, value)).toBe(false);
    },
  );
});
