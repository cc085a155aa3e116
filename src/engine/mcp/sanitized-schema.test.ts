import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../domain/common/json.js";
import { sanitizedSchema } from "./sanitized-schema.js";

const text = { type: "string" };

describe("a sanitized schema", () => {
  test("is the server's own when that is valid", () => {
    const schema = {
      type: "object",
      properties: {
        path: { type: "string", description: "Where.", minLength: 1, pattern: "^/", default: "/" },
        tags: { type: "array", items: { enum: ["a", "b"] }, maxItems: 3 },
        deep: { type: "object", properties: { any: {} }, additionalProperties: { $ref: "#/$defs/node" } },
        either: { anyOf: [text, { type: ["number", "null"] }] },
      },
      required: ["path"],
      additionalProperties: false,
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    };
    expect(sanitizedSchema(schema)).toEqual(schema);
  });

  const cases: [string, JsonObject, JsonObject][] = [
    ["has properties even when there are none", { type: "object" }, {}],
    ["is of type object", { properties: {} }, {}],
    [
      "does not name its dialect or itself",
      { $schema: "http://json-schema.org/draft-07/schema#", $id: "x" },
      {},
    ],
    [
      "has no alternatives at its top, but the properties of all, required where all agree",
      {
        oneOf: [
          { properties: { a: text, b: text }, required: ["a", "b"] },
          { properties: { b: text, c: text }, required: ["b"] },
        ],
      },
      { properties: { a: text, b: text, c: text }, required: ["b"] },
    ],
    [
      "is all of its parts in one",
      { allOf: [{ properties: { a: text }, required: ["a"] }, { properties: { b: text } }], required: ["b"] },
      { properties: { a: text, b: text }, required: ["b", "a"] },
    ],
    [
      "is what it refers to",
      { $ref: "#/definitions/it", definitions: { it: { type: "object", properties: { a: text } } } },
      { properties: { a: text }, definitions: { it: { type: "object", properties: { a: text } } } },
    ],
    [
      "does not refer to what is elsewhere, or nowhere",
      { properties: { a: { $ref: "https://x/y.json" }, b: { $ref: "#/$defs/none", description: "B" } } },
      { properties: { a: {}, b: { description: "B" } } },
    ],
    [
      "says what lists hold",
      { properties: { a: { type: "array" }, b: { type: "array", items: [text, { type: "number" }] } } },
      {
        properties: {
          a: { type: "array", items: {} },
          b: { type: "array", items: { anyOf: [text, { type: "number" }] } },
        },
      },
    ],
    [
      "has bounds that are numbers",
      { properties: { a: { type: "number", minimum: 1, exclusiveMinimum: true, exclusiveMaximum: false } } },
      { properties: { a: { type: "number", minimum: 1, exclusiveMinimum: 1 } } },
    ],
    [
      "has no words that vendors do not know",
      { properties: { a: { type: "any", description: 5, required: true, enum: [] }, b: true } },
      { properties: { a: {}, b: {} } },
    ],
    [
      "has no properties whose names vendors refuse",
      { properties: { "a b": text, ok: text }, required: ["a b", "ok"] },
      { properties: { ok: text }, required: ["ok"] },
    ],
  ];
  test.each(cases)("%s", (_, input, sanitized) => {
    expect(sanitizedSchema(input)).toEqual({ type: "object", properties: {}, ...sanitized });
  });

  test("ends where it refers to itself, or nests without end", () => {
    expect(sanitizedSchema({ $ref: "#" })).toEqual({ type: "object", properties: {} });
    const all = { allOf: Array.from({ length: 50 }, () => ({ $ref: "#" })) };
    expect(sanitizedSchema(all)).toEqual({ type: "object", properties: {} });
    let deep: JsonObject = {};
    for (let level = 0; level < 5_000; level += 1) deep = { type: "object", properties: { a: deep } };
    expect(JSON.stringify(sanitizedSchema(deep)).length).toBeLessThan(2_000);
  });

  test("is a schema of an object, whatever JSON was given", () => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    const key = fc.constantFrom(
      "type",
      "properties",
      "items",
      "required",
      "anyOf",
      "enum",
      "$ref",
      "a",
      "minimum",
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("object", "array", "string", "#", "#/properties/a", 1, true, null),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    }));
    const property = fc.property(fc.dictionary(key, value, { maxKeys: 5 }), (schema) => {
      const sanitized = sanitizedSchema(schema as JsonObject);
      expect([sanitized.type, typeof sanitized.properties]).toEqual(["object", "object"]);
      // The few that are not valid even so become a schema of anything.
      expect(() => ajv.validateSchema(sanitized)).not.toThrow();
    });
    fc.assert(property, { numRuns: 2_000 });
  });
});
