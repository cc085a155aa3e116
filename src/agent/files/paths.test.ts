import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { absolutePath } from "./paths.js";

test.each([
  ["a/b", "/code/a/b"],
  ["/a/b", "/a/b"],
  ["./a//b/../c", "/code/a/c"],
  ["../a", "/a"],
  ["~", homedir()],
  ["~/notes", join(homedir(), "notes")],
  ["~notes", "/code/~notes"],
])("the path %j means %j", (path, expected) => {
  expect(absolutePath("/code", path)).toBe(expected);
});
