import { describe, expect, test } from "vitest";
import { cutText, prefixEnd, suffixStart } from "./utf8.js";

describe("cutting UTF-8", () => {
  const bytes = Buffer.from("aé€😀z"); // 1 + 2 + 3 + 4 + 1 bytes

  test("a prefix never ends inside a character", () => {
    const ends = Array.from({ length: 13 }, (_, limit) => prefixEnd(bytes, limit));
    expect(ends).toEqual([0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11]);
  });

  test("a suffix never begins inside a character", () => {
    const starts = Array.from({ length: 12 }, (_, from) => suffixStart(bytes, from));
    expect(starts).toEqual([0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 11]);
  });

  test("bytes that are not UTF-8 are cut where asked", () => {
    const nonsense = Buffer.alloc(20, 0x80);
    expect([prefixEnd(nonsense, 10), suffixStart(nonsense, 5)]).toEqual([10, 5]);
  });

  test("text is cut to whole characters", () => {
    expect([cutText("aé€😀z", 9), cutText("abc", 3), cutText("abc", 0)]).toEqual(["aé€", "abc", ""]);
  });
});
