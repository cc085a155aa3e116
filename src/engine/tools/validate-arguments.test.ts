import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../domain/common/json.js";
import { builtInTools } from "./registry.js";
import { validateArguments } from "./validate-arguments.js";

const schema: JsonObject = {
  type: "object",
  properties: {
    path: { type: "string" },
    limit: { type: "integer", minimum: 1 },
    ratio: { type: "number" },
    force: { type: "boolean" },
    mode: { enum: ["read", "write"] },
    at: { type: "string", format: "date-time" },
    edits: {
      type: "array",
      items: { type: "object", properties: { old: { type: "string" } }, required: ["old"] },
    },
    either: { type: ["string", "integer"] },
    none: { type: ["integer", "null"] },
  },
  required: ["path"],
  additionalProperties: false,
};

test("valid arguments are passed on as they are", async () => {
  const args = { path: "a", limit: 10, either: "10", none: null, edits: [{ old: "x", more: 1 }] };
  const checked = await validateArguments(schema, args);
  expect(checked).toEqual({ isValid: true, args });
  expect(checked.isValid && checked.args).toBe(args);
});

test.each<[JsonObject, string]>([
  [{}, "path: is required (string)."],
  [{ file: "a" }, "path: is required (string); unknown property `file`."],
  [{ path: 7, foo: 1 }, "unknown property `foo`; path: must be string, not number."],
  [{ path: "a", limit: 0 }, "limit: must be >= 1."],
  [{ path: "a", limit: 1.5 }, "limit: must be integer, not number."],
  [{ path: "a", mode: "delete" }, 'mode: must be one of "read", "write".'],
  [{ path: "a", at: "tomorrow" }, 'at: must match format "date-time".'],
  [
    { path: "a", edits: [{ old: "x" }, { new: "y" }] },
    "edits[1].old: is required (string); unknown property `edits[1].new`.",
  ],
  [{ path: "a", none: [] }, "none: must be integer or null, not array."],
])("for %j the model reads what is wrong, where, and what was expected", async (args, error) => {
  expect(await validateArguments(schema, args)).toEqual({
    isValid: false,
    error: `Invalid arguments. ${error}`,
  });
});

describe("unambiguous slips are repaired", () => {
  test.each<[JsonObject, JsonObject]>([
    [{ limit: "10" }, { limit: 10 }],
    [
      { ratio: "-1.5", force: "true" },
      { ratio: -1.5, force: true },
    ],
    [{ edits: '[{"old":"x"}]' }, { edits: [{ old: "x" }] }],
    [{ limit: null, force: null }, {}],
    [
      { limit: "3", none: "4" },
      { limit: 3, none: 4 },
    ],
  ])("%j", async (slip, meant) => {
    const args = { path: "a", ...slip };
    const before = structuredClone(args);
    expect(await validateArguments(schema, args)).toEqual({ isValid: true, args: { path: "a", ...meant } });
    expect(args).toEqual(before);
  });

  test("also when one hides another", async () => {
    const nested = { type: "object", properties: { list: { type: "array", items: { type: "integer" } } } };
    expect(await validateArguments(nested, { list: '["1", "2"]' })).toEqual({
      isValid: true,
      args: { list: [1, 2] },
    });
  });
});

test.each<JsonObject>([
  { limit: "010" },
  { limit: "1e1" },
  { limit: " 10" },
  { limit: "" },
  { limit: "1.0" },
  { limit: "9007199254740993" },
  { ratio: "Infinity" },
  { ratio: "NaN" },
  { ratio: "0x10" },
  { force: "yes" },
  { force: 1 },
  { force: "TRUE" },
  { limit: true },
  { limit: [5] },
  { edits: "{}" },
  { edits: "[" },
  { edits: { old: "x" } },
  { path: null },
  { path: ["a"] },
  { limit: "5", mode: "delete" },
])("nothing is guessed: %j stays wrong", async (wrong) => {
  expect(await validateArguments(schema, { path: "a", ...wrong })).toMatchObject({ isValid: false });
});

test("an error stays short, whatever the model wrote and however much of it is wrong", async () => {
  const args = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, index) => [`${index}${"x".repeat(2_000)}`, 1]),
  );
  const checked = await validateArguments(schema, args);
  expect(checked.isValid).toBe(false);
  const error = checked.isValid ? "" : checked.error;
  expect(error.length).toBeLessThan(4_000);
  expect(error).toMatch(/; and 4991 more problems\.$/);
});

describe("external schemas", () => {
  const args = { a: [1, "x"] };

  test.each<[string, JsonObject]>([
    [
      "of draft 7, with a list of items",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        properties: { a: { items: [{ type: "string" }] } },
      },
    ],
    ["of draft 7 that do not say so", { properties: { a: { items: [{ type: "string" }] } } }],
    [
      "of 2020-12",
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        properties: { a: { prefixItems: [{ type: "string" }] } },
      },
    ],
    ["with an unknown dialect", { $schema: "urn:mine", properties: { a: { type: "string" } } }],
    [
      "with unknown keywords and formats",
      { properties: { a: { type: "string", format: "colour", "x-mine": 1 } } },
    ],
    ["with definitions", { $defs: { a: { type: "string" } }, properties: { a: { $ref: "#/$defs/a" } } }],
    ["that are asynchronous", { $async: true, properties: { a: { type: "string" } } }],
    ["with an id", { $id: "https://x.test/tool", properties: { a: { type: "string" } } }],
    ["with the same id", { $id: "https://x.test/tool", properties: { a: { type: "string" } } }],
  ])("%s are followed", async (_case, theirs) => {
    expect(await validateArguments(theirs, args)).toEqual({
      isValid: false,
      error: expect.stringMatching(/a(\[0\])?: must be string/) as string,
    });
  });

  test.each<[string, JsonObject]>([
    ["point elsewhere", { properties: { a: { $ref: "https://x.test/other" } } }],
    ["are nonsense", { type: "nonsense", properties: 7, required: "a" }],
    ["are larger than a tool needs", { description: "x".repeat(300_000), type: "string" }],
    ["turn in a circle", { $ref: "#" }],
  ])(
    "that %s are no reason to refuse a call: the tool validates the arguments itself",
    async (_case, theirs) => {
      expect(await validateArguments(theirs, args)).toEqual({
        isValid: true,
        args,
        unchecked: expect.any(String) as string,
      });
    },
  );

  test("cannot block the server with a regular expression, and nothing is reported as unknown for one", async () => {
    const catastrophic = {
      properties: { text: { type: "string", pattern: "^(a+)+$" } },
      patternProperties: { "^(x+)+$": { type: "integer" } },
      additionalProperties: false,
    };
    const wrong = { text: `${"a".repeat(60)}!`, [`${"x".repeat(60)}!`]: 1 };
    expect(await validateArguments(catastrophic, wrong)).toEqual({ isValid: true, args: wrong });
  });
});

test("any arguments are either valid or answered with an error, for every tool", async () => {
  const anything = fc.dictionary(
    fc.constantFrom("path", "edits", "command", "timeout", "__proto__", "constructor", "process_id", "a/b~c"),
    fc.jsonValue({ maxDepth: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(
      anything,
      fc.constantFrom(...builtInTools, { inputSchema: schema }),
      async (args, { inputSchema }) => {
        const checked = await validateArguments(inputSchema, args as JsonObject);
        if (checked.isValid) expect(checked.unchecked).toBeUndefined();
        else expect(checked.error).toMatch(/^Invalid arguments\. .+\.$/su);
      },
    ),
  );
  expect(({} as JsonObject)["a"]).toBeUndefined();
});

test("extremely nested arguments do not break the check", async () => {
  let deep: JsonObject = {};
  for (let level = 0; level < 50_000; level += 1) deep = { child: deep };
  const tree: JsonObject = {
    $ref: "#/$defs/node",
    $defs: { node: { properties: { child: { $ref: "#/$defs/node" } } } },
  };
  expect(await validateArguments(tree, deep)).toMatchObject({
    isValid: true,
    unchecked: expect.any(String) as string,
  });
});
