import { describe, expect, test } from "vitest";
import { fileReferenceText, parseToolArguments, toolResultText, wellFormed } from "./prompt-parts.js";

describe("parts that all vendors share", () => {
  const reference = {
    type: "file-reference" as const,
    path: "a.ts",
    startLine: 3,
    endLine: 5,
    content: "x\n",
  };
  test("a file reference is a header and a fence", () => {
    expect(fileReferenceText(reference)).toBe("[file-reference] a.ts:3-5\n```\nx\n```");
    expect(fileReferenceText({ ...reference, endLine: 3 })).toBe("[file-reference] a.ts:3\n```\nx\n```");
    expect(fileReferenceText({ ...reference, content: "" })).toBe("[file-reference] a.ts:3-5");
    expect(fileReferenceText({ ...reference, content: "```js" })).toBe(
      "[file-reference] a.ts:3-5\n````\n```js\n````",
    );
  });

  test("half a surrogate pair is replaced, whole ones stay", () => {
    expect(wellFormed("a\uD83D b 🌍 \uDF0D")).toBe("a\uFFFD b 🌍 \uFFFD");
    expect(toolResultText("cut \uD83D")).toBe("cut \uFFFD");
  });

  test("arguments that are no object become {}", () => {
    const input = ['{"a":1}', "", "null", "[1]", "{", '"a"', "1"];
    expect(input.map(parseToolArguments)).toEqual([{ a: 1 }, {}, {}, {}, {}, {}, {}]);
  });
});
