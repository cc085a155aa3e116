import { describe, expect, test } from "vitest";
import { applyEdit, type Edit, type EditOutcome } from "./match.js";

const LIMIT = 1000;

function reasonOf(outcome: EditOutcome): string {
  return outcome.kind === "edited" ? `edited: ${outcome.text}` : outcome.reason;
}

describe("an edit that matches", () => {
  const cases: [string, string, Edit, string, number][] = [
    ["replaces the only occurrence", "a b c", { oldText: "b", newText: "X" }, "a X c", 1],
    ["removes text", "a b c", { oldText: " b", newText: "" }, "a c", 1],
    ["replaces every occurrence", "a.a.a", { oldText: "a", newText: "b", replaceAll: true }, "b.b.b", 3],
    ["does not read $ patterns", "x x", { oldText: "x", newText: "$&", replaceAll: true }, "$& $&", 2],
    ["spans lines", "one\ntwo\nthree\n", { oldText: "one\ntwo", newText: "1\n2" }, "1\n2\nthree\n", 1],
    ["forgives white space", "\tif (x) {\n", { oldText: "    if (x) {", newText: "    {" }, "\t{\n", 1],
    ["may take the whole file away", "a \n", { oldText: "a", newText: "" }, " \n", 1],
    ["may do so tolerantly too", "a \nb", { oldText: "a\nb\n", newText: "" }, "", 1],
  ];
  test.each(cases)("%s", (_, text, edit, expected, replacements) => {
    expect(applyEdit(text, edit, LIMIT)).toEqual({ kind: "edited", text: expected, replacements });
  });
});

describe("an edit that does not match", () => {
  test("says that empty text cannot be found, also with replaceAll", () => {
    const reasons = [false, true].map((replaceAll) =>
      reasonOf(applyEdit("abc", { oldText: "", newText: "x", replaceAll }, LIMIT)),
    );
    const reason = "oldText must not be empty; give the text to be replaced, or write the file.";
    expect(reasons).toEqual([reason, reason]);
  });

  test("finds nothing in an empty file", () => {
    expect(reasonOf(applyEdit("", { oldText: "a\nb", newText: "x" }, LIMIT))).toBe(
      "oldText was not found. Read the file again: it must match character by character.",
    );
  });

  test("reports everything about a tolerance that makes it ambiguous", () => {
    const text = "if (x) {\n\tif (x) {\n";
    expect(reasonOf(applyEdit(text, { oldText: "  if (x) {\n", newText: "" }, LIMIT))).toBe(
      "oldText matches 2 occurrences when indentation and spaces at line ends do not count (on lines 1, 2); " +
        "include more surrounding lines to make it unique, or set replaceAll.",
    );
  });

  test.each([
    ["exact", "a".repeat(900), "a"],
    ["tolerant", "a \n".repeat(300), "a\n"],
  ])("refuses an %s result that would be too large, without building it", (_, text, oldText) => {
    const edit = { oldText, newText: "b".repeat(10_000_000), replaceAll: true };
    expect(applyEdit(text, edit, LIMIT)).toEqual({
      kind: "too-large",
      reason: "the result would have more than 1000 characters.",
    });
  });

  test("ends soon for very many equal lines, wherever the different one is", () => {
    const text = "same\n".repeat(200_000);
    const many = "same\n".repeat(20_000);
    for (const oldText of [`${many}other`, `other\n${many}`, `${many}other\n${many}`]) {
      expect(applyEdit(text, { oldText, newText: "" }, LIMIT).kind).toBe("unmatched");
    }
  });
});
