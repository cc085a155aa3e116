import { expect, test } from "vitest";
import { countLines, DiffLeftOut, type FileDiff, toUnified } from "./unified-diff.js";

const hunk = "@@ -1 +1 @@\n-one\n+two\n";
const file: FileDiff = {
  old_path: "a.txt",
  new_path: "a.txt",
  a_mode: "100644",
  b_mode: "100644",
  diff: hunk,
};

test.each<[string, Partial<FileDiff>, string]>([
  ["changed", {}, `diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n${hunk}`],
  [
    "new",
    { new_file: true, a_mode: "0", b_mode: "100755" },
    `diff --git a/a.txt b/a.txt\nnew file mode 100755\n--- /dev/null\n+++ b/a.txt\n${hunk}`,
  ],
  [
    "deleted",
    { deleted_file: true },
    `diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n--- a/a.txt\n+++ /dev/null\n${hunk}`,
  ],
  [
    "renamed as it is",
    { renamed_file: true, new_path: "b.txt", diff: "" },
    "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n",
  ],
  [
    "made executable",
    { b_mode: "100755", diff: "" },
    "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n",
  ],
  [
    "binary",
    { diff: "Binary files a/a.txt and b/a.txt differ" },
    "diff --git a/a.txt b/a.txt\nBinary files a/a.txt and b/a.txt differ\n",
  ],
])("a file that is %s is written as git does", (_, more, expected) => {
  expect(toUnified([{ ...file, ...more }])).toBe(expected);
});

test("a file whose diff the host omits is refused", () => {
  expect(() => toUnified([file, { ...file, too_large: true }])).toThrow(DiffLeftOut);
  expect(() => toUnified([{ ...file, collapsed: true }])).toThrow(DiffLeftOut);
});

test("lines are counted over all files", () => {
  expect(countLines([file, { ...file, diff: "@@ -0,0 +1,2 @@\n+a\n+b\n" }])).toEqual({
    additions: 3,
    deletions: 1,
  });
});
