import { describe, expect, test } from "vitest";
import { applyEdit, type Edit, type EditOutcome } from "./match.js";

const LIMIT = 1000;

function reasonOf(outcome: EditOutcome): string {
  return outcome.kind === "unmatched" ? outcome.reason : `edited: ${outcome.text}`;
}

describe("an edit that matches", () => {
  const cases: [string, string, Edit, string, number][] = [
    ["replaces the only occurrence", "a b c", { oldText: "b", newText: "X" }, "a X c", 1],
    ["removes text", "a b c", { oldText: " b", newText: "" }, "a c", 1],
    ["replaces every occurrence", "a.a.a", { oldText: "a", newText: "b", replaceAll: true }, "b.b.b", 3],
    ["does not read $ patterns", "price", { oldText: "price", newText: "$& $1 $$" }, "$& $1 $$", 1],
    [
      "does not read them for all either",
      "x x",
      { oldText: "x", newText: "$&", replaceAll: true },
      "$& $&",
      2,
    ],
    ["spans lines", "one\ntwo\nthree\n", { oldText: "one\ntwo", newText: "1\n2" }, "1\n2\nthree\n", 1],
  ];
  test.each(cases)("%s", (_, text, edit, expected, replacements) => {
    expect(applyEdit(text, edit, LIMIT)).toEqual({ kind: "edited", text: expected, replacements });
  });
});

describe("an edit that does not match", () => {
  test("says that empty text cannot be found", () => {
    expect(reasonOf(applyEdit("abc", { oldText: "", newText: "x" }, LIMIT))).toBe(
      "oldText is empty; give the text to be replaced, or write the file.",
    );
  });

  test("counts occurrences that make it ambiguous, also overlapping ones", () => {
    const reasons = ["aba", "aaa"].map((text) =>
      reasonOf(applyEdit(text, { oldText: text === "aba" ? "a" : "aa", newText: "x" }, LIMIT)),
    );
    const reason =
      "oldText matches 2 occurrences; include more surrounding lines to make it unique, or set replaceAll.";
    expect(reasons).toEqual([reason, reason]);
  });

  test("names the first line that differs", () => {
    const text = "zero\n  one\n  two\n  three\n";
    expect(reasonOf(applyEdit(text, { oldText: "  one\n  two\n  four", newText: "" }, LIMIT))).toBe(
      'oldText was not found. The closest match begins at line 2: its first 2 line(s) match, but line 4 of the file is "  three" where oldText has "  four".',
    );
  });

  test("says when the file ends too early", () => {
    expect(reasonOf(applyEdit("one\ntwo", { oldText: "two\nthree", newText: "" }, LIMIT))).toBe(
      'oldText was not found. The closest match begins at line 2: its first 1 line(s) match, but then the file ends where oldText has "three".',
    );
  });

  test("points at a line that differs only in white space", () => {
    expect(reasonOf(applyEdit("\tif (x) {\n", { oldText: "    if (x) {", newText: "" }, LIMIT))).toBe(
      'oldText was not found. Line 1 of the file is "\\tif (x) {", which differs only in white space from "    if (x) {".',
    );
  });

  test("points at CRLF line endings", () => {
    expect(reasonOf(applyEdit("a\r\nb\r\n", { oldText: "a\nb", newText: "" }, LIMIT))).toBe(
      "oldText was not found. The file has it with CRLF line endings; use \\r\\n in oldText.",
    );
  });

  test("refuses a result that would be too large, without building it", () => {
    const text = "a".repeat(900);
    const edit = { oldText: "a", newText: "b".repeat(10_000_000), replaceAll: true };
    expect(reasonOf(applyEdit(text, edit, LIMIT))).toBe("the result would have more than 1000 characters.");
  });

  test("ends soon for a million equal lines", () => {
    const text = "same\n".repeat(1_000_000);
    const wanted = `${"same\n".repeat(100_000)}other`;
    expect(applyEdit(text, { oldText: wanted, newText: "" }, LIMIT).kind).toBe("unmatched");
  });
});
