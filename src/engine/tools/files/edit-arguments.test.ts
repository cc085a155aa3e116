import { expect, test } from "vitest";
import { explainShape, groupEdits, normaliseEditArguments } from "./edit-arguments.js";

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
])("edits are understood when given %s", (_, input, expected) => {
  expect(normaliseEditArguments(input)).toEqual(expected);
});

test("edits of one path are grouped in order", () => {
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
    includeDiff: true,
  });
});

const SHAPE = "The arguments are edits: [{path, old_text, new_text, replace_all?}].";

test.each([
  [
    "edits that are text but no list",
    { edits: "nonsense" },
    "edits must be a list, or its JSON as text; this text is neither.",
  ],
  [
    "the names of other tools",
    { edits: [{ file_path: "a", old_str: "x", new_str: "y" }] },
    `Here \`file_path\` is path and \`old_str\` is old_text and \`new_str\` is new_text. ${SHAPE}`,
  ],
  ["one edit instead of a list", { edits: { path: "a" } }, `edits must be a list. ${SHAPE}`],
  ["an edit without its list", { path: "a", old_text: "x", new_text: "y" }, SHAPE],
  ["a patch", { patch: "*** Begin Patch" }, `Patches and scripts are not understood. ${SHAPE}`],
  ["a whole file", { path: "a", content: "x" }, "A whole file is written by write_file."],
  ["what the schema explains by itself", { edits: [{ path: "a" }] }, ""],
])("arguments with %s get advice on their shape", (_, args, expected) => {
  expect(explainShape(args)).toBe(expected);
});
