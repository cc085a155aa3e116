import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DocumentNode, getIntrospectionQuery, parse, separateOperations } from "graphql";
import { describe, expect, test } from "vitest";
import { measureDocument, refuseSize } from "./document-size.js";
import { DEFAULT_HTTP_LIMITS } from "./limits.js";

const OPERATIONS = join(import.meta.dirname, "../../..", "sdk", "operations");
const size = (text: string, most = 1_000_000) => measureDocument(parse(text), most);
const repeat = (count: number, text: string) => `{ ${text.repeat(count)} }`;

describe("a document's size", () => {
  test.each([
    ["each field counts", "{ a { b c } d }", { nodes: 4, comparisons: 0 }],
    ["each operation counts", "query A { a } query B { a }", { nodes: 2, comparisons: 1 }],
    ["fields of one name are compared", "{ a a a a }", { nodes: 4, comparisons: 6 }],
    ["a name is that of the answer", "{ x: a x: b b: c }", { nodes: 3, comparisons: 1 }],
    ["arguments make comparisons dearer", '{ a(x: [1, {y: "z"}]) a }', { nodes: 2, comparisons: 3 }],
    ["inline fragments count", "{ ... { a } ... on A { b } }", { nodes: 4, comparisons: 0 }],
    [
      "fragments count wherever they are used",
      "{ ...F b { ...F } } fragment F on A { a }",
      { nodes: 5, comparisons: 1 },
    ],
    [
      "unused fragments count once",
      "{ a } fragment F on A { b ...G } fragment G on A { c }",
      { nodes: 4, comparisons: 0 },
    ],
    ["fragments that are missing count as their spread", "{ ...F }", { nodes: 1, comparisons: 0 }],
    [
      "a circle is gone through once",
      "{ ...F } fragment F on A { a ...G } fragment G on A { b ...F }",
      { nodes: 5, comparisons: 0 },
    ],
  ])("%s", (_rule, text, expected) => {
    expect(size(text)).toEqual(expected);
  });

  test("fragments that double a hundred times are counted no further than the bound", () => {
    const fragments = Array.from(
      { length: 100 },
      (_, i) => `fragment F${i} on A { ...F${i + 1} ...F${i + 1} }`,
    );
    expect(size(`{ ...F0 } ${fragments.join(" ")} fragment F100 on A { a }`, 1_000).nodes).toBe(1_001);
  });

  test("multiplying cycles are counted no further than the bound", () => {
    const names = Array.from({ length: 40 }, (_, i) => `F${i}`);
    const all = names.map((name) => `...${name}`).join(" ");
    expect(
      size(`{ ${all} } ${names.map((name) => `fragment ${name} on A { ${all} }`).join(" ")}`, 1_000).nodes,
    ).toBe(1_001);
  });
});

describe("the limits", () => {
  const operations = () => {
    const files = readdirSync(OPERATIONS).map((file) => readFileSync(join(OPERATIONS, file), "utf8"));
    return Object.entries(separateOperations(parse(files.join("\n"))));
  };
  const isRefused = (document: DocumentNode) => refuseSize(document, DEFAULT_HTTP_LIMITS) !== undefined;

  test("are at least twice the size of every operation of the SDK", () => {
    const half = {
      maxNodes: DEFAULT_HTTP_LIMITS.maxNodes / 2,
      maxComparisons: DEFAULT_HTTP_LIMITS.maxComparisons / 2,
    };
    const refused = operations().filter(([, document]) => refuseSize(document, half));
    expect(refused.map(([name]) => name)).toEqual([]);
  });

  test("admit introspection", () => {
    expect(isRefused(parse(getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true })))).toBe(false);
  });

  test.each([
    ["a page asked for again and again, in 4.5 kB", repeat(264, "chats{nodes{id}} ")],
    ["a field asked for again and again", repeat(1_000, "id ")],
    ["the same with long arguments", repeat(110, 'nodes(ids:["a","b","c","d","e","f"]){id} ')],
  ])("refuse %s", (_what, text) => {
    expect(isRefused(parse(text))).toBe(true);
  });
});
