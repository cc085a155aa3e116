import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../domain/common/json.js";
import type { TextPart } from "../../domain/chats/message-parts.js";
import { textBlocks } from "./citations.js";

const part = (text: string, cited?: JsonValue): TextPart => ({
  type: "text",
  text,
  ...(cited === undefined ? {} : { providerMetadata: { anthropic: { cited } } }),
});
const stretch = (start: number, end: number) => ({ start, end, citations: [{ of: `${start}` }] });
const block = (text: string, start?: number) => ({
  type: "text",
  text,
  ...(start === undefined ? {} : { citations: [{ of: `${start}` }] }),
});

describe("a text is cut into the blocks it came in", () => {
  test.each([
    ["without citations", part("abc"), [block("abc")]],
    ["cited as a whole", part("abc", [stretch(0, 3)]), [block("abc", 0)]],
    ["cited in the middle", part("abc", [stretch(1, 2)]), [block("a"), block("b", 1), block("c")]],
    ["cited twice in a row", part("abcd", [stretch(0, 2), stretch(2, 4)]), [block("ab", 0), block("cd", 2)]],
    ["with blank stretches", part("a \n b", [stretch(0, 1), stretch(4, 5)]), [block("a", 0), block("b", 4)]],
    ["blank", part(" \n", [stretch(0, 2)]), []],
    ["with half a character", part("a\ud800b", [stretch(0, 1)]), [block("a", 0), block("\ufffdb")]],
  ])("%s", (_, input, expected) => {
    expect(textBlocks(input, true)).toEqual(expected);
  });

  test("or into one, where citations cannot go", () => {
    expect(textBlocks(part("abc", [stretch(1, 2)]), false)).toEqual([block("abc")]);
  });

  test.each([
    ["no list", "odd"],
    ["not stretches", [null, 7, {}, { start: "0", end: 1, citations: [] }]],
    ["outside", [stretch(2, 9)]],
    ["backwards", [stretch(2, 1), stretch(-1, 2)]],
  ])("stored citations that are %s change nothing", (_, cited) => {
    expect(textBlocks(part("abc", cited as JsonValue), true)).toEqual([block("abc")]);
  });

  test("stretches that overlap: the first one counts", () => {
    expect(textBlocks(part("abc", [stretch(0, 2), stretch(1, 3)]), true)).toEqual([
      block("ab", 0),
      block("c"),
    ]);
  });
});
