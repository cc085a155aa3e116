import { expect, test } from "vitest";
import { noteOf } from "./search-notes.js";

test("a search that showed everything needs no note", () => {
  expect(noteOf({ unreadable: 0 }, { more: 0, unit: "files" })).toEqual({});
});

test("a search that ended early reports its counts as minimums", () => {
  expect(
    noteOf(
      { endedEarly: "time", unreadable: 2 },
      { more: 3, unit: "files", otherFacts: ["1 file is too large."] },
    ),
  ).toEqual({
    note:
      "At least 3 more files are not shown; narrow the search down with a more particular pattern or path. " +
      "The search took too long and ended before it had seen every file; search a smaller directory. " +
      "1 file is too large. 2 directories or files could not be read.",
  });
});
