import { expect, test } from "vitest";
import { compileGlob } from "./glob.js";

const paths = [
  ".env",
  "README.md",
  "a[1].txt",
  "src/.hidden/x.ts",
  "src/a.ts",
  "src/a.tsx",
  "src/deep/er/b.ts",
  "src/deep/ü.ts",
  "!odd/+(x).ts",
];

test.each([
  ["*.ts", ["src/.hidden/x.ts", "src/a.ts", "src/deep/er/b.ts", "src/deep/ü.ts", "!odd/+(x).ts"]],
  ["src/*.ts", ["src/a.ts"]],
  ["./src/*.ts", ["src/a.ts"]],
  ["src/**/*.ts", ["src/.hidden/x.ts", "src/a.ts", "src/deep/er/b.ts", "src/deep/ü.ts"]],
  ["src/deep/", ["src/deep/er/b.ts", "src/deep/ü.ts"]],
  ["**/{a,b}.ts", ["src/a.ts", "src/deep/er/b.ts"]],
  ["*.{md,tsx}", ["README.md", "src/a.tsx"]],
  ["?.ts", ["src/.hidden/x.ts", "src/a.ts", "src/deep/er/b.ts", "src/deep/ü.ts"]],
  ["[!a-w].ts", ["src/.hidden/x.ts", "src/deep/ü.ts"]],
  ["a\\[1\\].txt", ["a[1].txt"]],
  [".env", [".env"]],
  ["!*.ts", []],
  ["+(x).ts", ["!odd/+(x).ts"]],
  ["SRC/*", []],
  ["**", paths],
])("the pattern %s names the files it should", (glob, expected) => {
  const isMeant = compileGlob(glob);
  expect(paths.filter((path) => isMeant(path))).toEqual(expected);
});

test("alternatives without end are cut", () => {
  expect(compileGlob("{1..99999999}{1..99999999}")("11")).toBe(true);
});
