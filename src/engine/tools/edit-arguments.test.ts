import { expect, test } from "vitest";
import { groupEdits, normaliseEditArguments } from "./edit-arguments.js";

const EDIT = { path: "a.txt", old_text: "x", new_text: "y" };

test.each([
  ["as the schema wants them", { edits: [EDIT] }, { edits: [EDIT] }],
  ["as a string of JSON", { edits: JSON.stringify([EDIT]) }, { edits: [EDIT] }],
  [
    "grouped by file",
    { files: [{ path: "a.txt", edits: [{ old_text: "x", new_text: "y" }] }] },
    { edits: [EDIT] },
  ],
  ["as a string that is no JSON", { edits: "nonsense" }, { edits: "nonsense" }],
  ["not at all", { other: 1 }, { other: 1 }],
])("edits are understood when given %s", (_, given, expected) => {
  expect(normaliseEditArguments(given)).toEqual(expected);
});

test("edits of one path are kept together in order", () => {
  expect(
    groupEdits([
      EDIT,
      { path: "b.txt", old_text: "1", new_text: "2" },
      { path: " a.txt ", old_text: "y", new_text: "z", replace_all: true },
    ]),
  ).toEqual({
    files: [
      {
        path: "a.txt",
        edits: [
          { oldText: "x", newText: "y", replaceAll: undefined },
          { oldText: "y", newText: "z", replaceAll: true },
        ],
      },
      { path: "b.txt", edits: [{ oldText: "1", newText: "2", replaceAll: undefined }] },
    ],
  });
});
